; The feedback of a packet: steps 20 to 27 of the draft.

#ifndef XCP_LAW_UC
#define XCP_LAW_UC

#include "fixed.uc"

; A scale factor is a mantissa, cp or cn, shifted right by what is in `shifts`, Cn's
; << 8 | Cp's.

; xcp_positive(positive, residue, cp, shifts)
;   positive <- the share of a packet with its X in local memory in the positive pool,
;   of which `residue` is left.
#macro xcp_positive(positive, residue, cp, shifts)
.begin
    .reg high low shift
    alu[low, --, B, *l$index1[XCP_X]]
    alu[high, --, B, cp]
    multiply_32x32(high, low, high, low)
    alu[shift, --, B, shifts]
    scale_down(positive, high, low, shift)
    least(positive, residue)
.end
#endm

; xcp_negative(negative, size, residue, cn, shifts)
;   negative <- the share of a packet of `size` bytes in the negative pool.
#macro xcp_negative(negative, size, residue, cn, shifts)
.begin
    .reg high low shift
    alu[high, --, B, cn]
    multiply_32x32(high, low, high, size)
    alu_shf[shift, --, B, shifts, >>8]
    scale_down(negative, high, low, shift)
    least(negative, residue)
.end
#endm

; xcp_settle(positive, negative, delta, residue)
;   delta <- what a packet gets of the `delta` that it asks for; positive, negative,
;   its shares before, <- what leaves the pools. `residue` is left in the negative
;   one. `positive` is below 0 when something comes back to that pool.
#macro xcp_settle(positive, negative, delta, residue)
.begin
    .reg feedback extra
    alu[feedback, positive, -, negative]
    alu[extra, feedback, -, delta]
    blt[take#]
    ; The packet brings less than its share and keeps it: the rest of its share
    ; comes out of the negative pool.
    alu[negative, negative, +, extra]
    bcs[all#]
    alu[--, residue, -, negative]
    bhs[some#]
all#:
    alu[negative, --, B, residue]
some#:
    br[done#], defer[1]
    alu[positive, delta, +, negative]
take#:
    alu[delta, --, B, feedback]
done#:
.end
#endm

#endif
