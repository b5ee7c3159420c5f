; All seven variables under one lock: a context reads them, counts its packet, takes
; its feedback and writes them back.

#ifndef XCP_FEEDBACK_UC
#define XCP_FEEDBACK_UC

#include "context_memory.uc"
#include "locked.uc"

; The context's local memory: time between packets * round-trip time.
#define XCP_PRODUCT_LOW  10
#define XCP_PRODUCT_HIGH 11

.reg $sum0 $sum1 $sum2 $sum3 $sum4
.xfer_order $sum0 $sum1 $sum2 $sum3 $sum4
.sig summed

#macro extension_set_up()
.begin
    .reg place
    context_memory(place)
    local_csr_wr[ACTIVE_LM_ADDR_1, place]
.end
#endm

; xcp_multiply()
;   The product goes to local memory before the lock is taken.
#macro xcp_multiply()
.begin
    .reg x rtt high low
    alu[x, --, B, *l$index1[XCP_TIMED]]
    alu[rtt, --, B, *l$index1[XCP_RTT]]
    multiply_32x32(high, low, x, rtt)
    alu[*l$index1[XCP_PRODUCT_LOW], --, B, low]
    alu[*l$index1[XCP_PRODUCT_HIGH], --, B, high]
.end
#endm

; xcp_arrive(size)
;   Steps 1 to 6 of the draft on $sum0 to $sum4.
#macro xcp_arrive(size)
    alu[$sum0, size, +, $sum0]
    alu[$sum1, $sum1, +, *l$index1[XCP_TIMED]]
    alu[$sum2, $sum2, +carry, 0]
    alu[$sum3, $sum3, +, *l$index1[XCP_PRODUCT_LOW]]
    alu[$sum4, $sum4, +carry, *l$index1[XCP_PRODUCT_HIGH]]
#endm

#macro xcp_exchange(buffer, delta, size, port_out, done)
.begin
    .reg state
    xcp_multiply()
    xcp_group(state, port_out)
    hand_over_room(sequence)
    lock_take($lock, state, XCP_LATCH, XCP_SPACE, shared, rung)
locked#:
    XCP_SPACE[read, $sum0, state, XCP_ARRIVED, 5], sig_done[summed]
    XCP_SPACE[read, $pool0, state, XCP_POOLS, 5], sig_done[pooled]
    ctx_arb[summed, pooled]
    xcp_arrive(size)
    xcp_depart(delta, size)
    XCP_SPACE[write, $sum0, state, XCP_ARRIVED, 5], sig_done[summed]
    XCP_SPACE[write, $pool0, state, XCP_POOLS, 4], sig_done[pooled]
    ctx_arb[summed, pooled]
    lock_release($lock, state, XCP_LATCH, XCP_SPACE, pooled)
released#:
    ipv4_rewrite(ttl_step)
    xcp_answer_begin()
    xcp_answer_delta(delta)
    xcp_answer_write(buffer, done)
    ctx_arb[pooled]
.end
#endm

#macro xcp_count(size, port_out)
.begin
    .reg state
    xcp_group(state, port_out)
    hand_over_room(sequence)
    lock_take($lock, state, XCP_LATCH, XCP_SPACE, shared, rung)
    XCP_SPACE[read, $sum0, state, XCP_ARRIVED, 1], ctx_swap[summed]
    alu[$sum0, size, +, $sum0]
    XCP_SPACE[write, $sum0, state, XCP_ARRIVED, 1], ctx_swap[summed]
    lock_release($lock, state, XCP_LATCH, XCP_SPACE, pooled)
    ctx_arb[pooled]
.end
#endm

#endif
