; The four variables of the pools under one lock; what arrived is counted by thread.

#ifndef XCP_FEEDBACK_UC
#define XCP_FEEDBACK_UC

#include "sums.uc"
#include "locked.uc"

#macro extension_set_up()
    xcp_sums_set_up()
#endm

#macro xcp_exchange(buffer, delta, size, port_out, done)
.begin
    .reg state
    xcp_arrive(size, port_out)
    xcp_group(state, port_out)
    ctx_arb[summed]
    hand_over_room(sequence)
    lock_take($lock, state, XCP_LATCH, XCP_SPACE, shared, rung)
    XCP_SPACE[read, $pool0, state, XCP_POOLS, 5], ctx_swap[pooled]
    xcp_depart(delta, size)
    XCP_SPACE[write, $pool0, state, XCP_POOLS, 4], ctx_swap[pooled]
    lock_release($lock, state, XCP_LATCH, XCP_SPACE, pooled)
    ipv4_rewrite(ttl_step)
    xcp_answer_begin()
    xcp_answer_delta(delta)
    xcp_answer_write(buffer, done)
    ctx_arb[pooled]
.end
#endm

#endif
