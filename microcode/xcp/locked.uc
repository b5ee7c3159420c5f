; Pools under a lock. A group's longwords in XCP_STATE, 64 bytes:
;    0  residue_pos    positive feedback left, byte/s
;    1  residue_neg    negative feedback left, byte/s
;    2  Cp             mantissa: positive feedback for 2^-28 s between packets
;    3  Cn             mantissa: negative feedback for a byte
;    4  shifts         Cn's << 8 | Cp's: C = mantissa * 2^-shift
;    5  lock
; and with them, where they are not counted by thread:
;    8  input_traffic  bytes that arrived
;    9  sum_x          sum of the times between packets, lower and upper half
;   11  sum_xrtt       sum of time between packets * round-trip time >> 12

#ifndef XCP_LOCKED_UC
#define XCP_LOCKED_UC

#include "lock.uc"
#include "state.uc"
#include "law.uc"

#define XCP_POOLS 0
#define XCP_LATCH 20
#define XCP_ARRIVED 32

.reg $pool0 $pool1 $pool2 $pool3 $pool4
.xfer_order $pool0 $pool1 $pool2 $pool3 $pool4
.reg $lock
.sig shared pooled

; xcp_depart(delta, size)
;   Steps 20 to 31 on $pool0 to $pool4: delta <- what the packet gets.
#macro xcp_depart(delta, size)
.begin
    .reg positive negative
    xcp_positive(positive, $pool0, $pool2, $pool4)
    xcp_negative(negative, size, $pool1, $pool3, $pool4)
    xcp_settle(positive, negative, delta, $pool1)
    ; The rest of the pool. Bytes may come back to the positive pool, up to 2^31 - 1.
    alu[positive, $pool0, -, positive]
    bpl[positive#]
    alu[positive, --, ~B, 0]
    alu_shf[positive, --, B, positive, >>1]
positive#:
    alu[$pool0, --, B, positive]
    bne[more#], defer[1]
    alu[$pool2, --, B, $pool2]
    immed[$pool2, 0]
more#:
    alu[negative, $pool1, -, negative]
    alu[$pool1, --, B, negative]
    bne[left#], defer[1]
    alu[$pool3, --, B, $pool3]
    immed[$pool3, 0]
left#:
.end
#endm

#endif
