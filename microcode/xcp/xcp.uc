; xcp.uc: the explicit control protocol (draft-falk-xcp-spec-03) in the processing
; stage.
;
; Each packet of the protocol adds to what arrived in the interval, and takes its
; share of the feedback that the slow path gave out for the interval. Shared by
; all contexts, a group's longwords in XCP_STATE (64 bytes; all ports are group 0,
; or with XCP_PER_PORT each port its own):
;    0  residue_pos    positive feedback left, byte/s
;    1  residue_neg    negative feedback left, byte/s
;    2  Cp             mantissa: positive feedback for 2^-28 s between packets
;    3  Cn             mantissa: negative feedback for a byte
;    4  shifts         Cn's << 8 | Cp's: C = mantissa * 2^-shift
;    5  lock
;    8  input_traffic  bytes that arrived
;    9  sum_x          sum of the times between packets, lower and upper half
;   11  sum_xrtt       sum of time between packets * round-trip time >> 12
;
; With XCP_EVERY_PACKET all packets are taken for standard ones, whatever they
; carry; else those with XCP_PROTOCOL in their IPv4 header are looked at.

#ifndef XCP_UC
#define XCP_UC

#include "context_memory.uc"
#include "lock.uc"
#include "fixed.uc"

; Where XCP_STATE is.
#ifndef XCP_SPACE
#define XCP_SPACE scratch
#endif
; The protocol number: none is assigned; this one is for experiments.
#ifndef XCP_PROTOCOL
#define XCP_PROTOCOL 253
#endif
; MAX_INTERVAL, 1 s in steps of 2^-28 s.
#define XCP_MAX_INTERVAL_LOG 28
; Round-trip times lose this many bits before they are multiplied.
#define XCP_RTT_SHIFT 12

#define XCP_POOLS 0
#define XCP_LOCK  20
#define XCP_SUMS  32
#define XCP_GROUP_SHIFT 6

; The context's local memory.
#define XCP_X            0
#define XCP_PRODUCT_LOW  1
#define XCP_PRODUCT_HIGH 2

.reg $pool0 $pool1 $pool2 $pool3 $pool4
.xfer_order $pool0 $pool1 $pool2 $pool3 $pool4
.reg $sum0 $sum1 $sum2 $sum3 $sum4
.xfer_order $sum0 $sum1 $sum2 $sum3 $sum4
.reg $lock
.sig shared pooled summed

#macro extension_set_up()
#endm

; xcp_prepare(delta, size)
;   What needs no lock: delta <- the feedback that the packet asks for; in local
;   memory the time between packets and its product with the round-trip time.
#macro xcp_prepare(delta)
.begin
    .reg place x rtt high low
    context_memory(place)
    local_csr_wr[ACTIVE_LM_ADDR_1, place]
    alu_shf[x, --, B, $$h9, <<16]
    alu_shf[x, x, OR, $$h10, >>16]
    alu_shf[rtt, --, B, $$h10, <<16]
    alu_shf[rtt, rtt, OR, $$h11, >>16]
    ; The smaller of both, MAX_INTERVAL being a power of two.
    alu_shf[--, --, B, rtt, >>XCP_MAX_INTERVAL_LOG]
    beq[known#], defer[1]
    alu_shf[rtt, --, B, rtt, >>XCP_RTT_SHIFT]
    immed[rtt, 1, <<16]
known#:
    alu_shf[delta, --, B, $$h12, <<16]
    alu_shf[delta, delta, OR, $$h13, >>16]
    multiply_32x32(high, low, x, rtt)
    alu[*l$index1[XCP_X], --, B, x]
    alu[*l$index1[XCP_PRODUCT_LOW], --, B, low]
    alu[*l$index1[XCP_PRODUCT_HIGH], --, B, high]
.end
#endm

; xcp_arrive(size)
;   Steps 1 to 6 of the draft on $sum0 to $sum4.
#macro xcp_arrive(size)
    alu[$sum0, size, +, $sum0]
    alu[$sum1, $sum1, +, *l$index1[XCP_X]]
    alu[$sum2, $sum2, +carry, 0]
    alu[$sum3, $sum3, +, *l$index1[XCP_PRODUCT_LOW]]
    alu[$sum4, $sum4, +carry, *l$index1[XCP_PRODUCT_HIGH]]
#endm

; xcp_depart(delta, size)
;   Steps 20 to 31 on $pool0 to $pool4: delta <- what the packet gets.
#macro xcp_depart(delta, size)
.begin
    .reg positive negative high low shift feedback extra
    alu[low, --, B, *l$index1[XCP_X]]
    alu[high, --, B, $pool2]
    multiply_32x32(high, low, high, low)
    alu[shift, --, B, $pool4]
    scale_down(positive, high, low, shift)
    least(positive, $pool0)
    alu[high, --, B, $pool3]
    multiply_32x32(high, low, high, size)
    alu_shf[shift, --, B, $pool4, >>8]
    scale_down(negative, high, low, shift)
    least(negative, $pool1)

    alu[feedback, positive, -, negative]
    alu[extra, feedback, -, delta]
    blt[take#]
    ; The packet brings less than its share and keeps it: the rest of its share
    ; comes out of the negative pool.
    alu[negative, negative, +, extra]
    bcs[all#]
    alu[--, $pool1, -, negative]
    bhs[some#]
all#:
    alu[negative, --, B, $pool1]
some#:
    br[pools#], defer[1]
    alu[positive, delta, +, negative]
take#:
    alu[delta, --, B, feedback]
pools#:
    ; What is left. Something may come back to the positive pool, up to 2^31 - 1.
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

; xcp_answer(buffer, delta, done)
;   Writes the header back with `delta` as its feedback.
#macro xcp_answer(buffer, delta, done)
.begin
    .reg edge
    alu[$$o8, --, B, $$h8]
    alu[$$o9, --, B, $$h9]
    alu[$$o10, --, B, $$h10]
    alu[$$o11, --, B, $$h11]
    alu_shf[edge, --, B, $$h12, >>16]
    alu_shf[edge, --, B, edge, <<16]
    alu_shf[$$o12, edge, OR, delta, >>16]
    alu[edge, ones, AND, $$h13]
    alu_shf[$$o13, edge, OR, delta, <<16]
    dram[write, $$o2, buffer, 8, 6], sig_done[done]
.end
#endm

#macro extension_forward(buffer, port_out, total, done)
.begin
    .reg delta state
#ifdef XCP_EVERY_PACKET
    xcp_prepare(delta)
#else
    ; TODO
#endif
    load_constant(state, XCP_STATE)
#ifdef XCP_PER_PORT
    .begin
    .reg group
    alu_shf[group, --, B, port_out, <<XCP_GROUP_SHIFT]
    alu[state, state, +, group]
    .end
#endif
    hand_over_room(sequence)
    lock_take($lock, state, XCP_LOCK, XCP_SPACE, shared, rung)
    XCP_SPACE[read, $sum0, state, XCP_SUMS, 5], sig_done[summed]
    XCP_SPACE[read, $pool0, state, XCP_POOLS, 5], sig_done[pooled]
    ctx_arb[summed, pooled]
    xcp_arrive(total)
    xcp_depart(delta, total)
    XCP_SPACE[write, $sum0, state, XCP_SUMS, 5], sig_done[summed]
    XCP_SPACE[write, $pool0, state, XCP_POOLS, 4], sig_done[pooled]
    ctx_arb[summed, pooled]
    lock_release($lock, state, XCP_LOCK, XCP_SPACE, pooled)
    ipv4_rewrite(ttl_step)
    xcp_answer(buffer, delta, done)
    ctx_arb[pooled]
.end
#endm

#endif
