; No lock: pools are counted down by atomic commands; what arrived is counted by
; thread.
;
; The law is computed on what the pools were a moment ago, and what it takes is
; subtracted from them. They are seldom so low that somebody else was faster; then
; all of it goes back, and the packet is computed again.

#ifndef XCP_FEEDBACK_UC
#define XCP_FEEDBACK_UC

#include "sums.uc"
#include "banks.uc"

.sig negative_taken

#macro extension_set_up()
    xcp_sums_set_up()
#endm

; xcp_shares(positive, negative, delta, size, residue_pos, residue_neg, cp, cn, shifts, again#)
;   delta <- what the packet gets; positive, negative <- what is to leave the pools.
;   A scale factor of 0 needs no product. To again# while a pool is below 0: somebody
;   is about to give back.
#macro xcp_shares(positive, negative, delta, size, residue_pos, residue_neg, cp, cn, shifts, again)
    alu[positive, --, B, residue_pos]
    alu[--, positive, OR, residue_neg]
    bmi[again]
    alu[--, --, B, cp]
    beq[no_cp#], defer[1]
    immed[positive, 0]
    xcp_positive(positive, residue_pos, cp, shifts)
no_cp#:
    alu[--, --, B, cn]
    beq[no_cn#], defer[1]
    immed[negative, 0]
    xcp_negative(negative, size, residue_neg, cn, shifts)
no_cn#:
    xcp_settle(positive, negative, delta, residue_neg)
#endm

#macro xcp_exchange(buffer, delta, size, port_out, done)
.begin
    .reg state pools positive negative both
    xcp_group(state, port_out)
    XCP_SPACE[read, $scale0, state, XCP_SCALES, 7], sig_done[scaled]
    XCP_SPACE[read, $left0, state, XCP_POOLS, 4], sig_done[pooled]
    ; Meanwhile.
    xcp_arrive(size, port_out)
    ipv4_rewrite(ttl_step)
    xcp_answer_begin()
    ctx_arb[scaled, pooled, summed], defer[1]
    alu[pools, state, +, XCP_POOLS]
look#:
    alu[--, --, B, $scale0]
    bne[second#]
    xcp_shares(positive, negative, delta, size, $left0, $left1, $scale1, $scale2, $scale3, again#)
share#:
    ; Take it, in the usual case in one step.
    alu[both, positive, OR, negative]
    alu_shf[--, --, B, both, >>XCP_MOST_LOG]
    bne[large#]
    pool_subtract($positive, pools, 0, positive, XCP_SPACE, positive_taken)
    pool_subtract($negative, pools, 4, negative, XCP_SPACE, negative_taken)
    ctx_arb[positive_taken, negative_taken]
    ; A pool may be empty, or have had less; which does not matter if nothing was
    ; wanted of it.
    alu[--, $positive, -, positive]
    ble[edge_positive#]
covered#:
    alu[--, --, B, negative]
    bne[edge_negative#]
taken#:
    xcp_answer_delta(delta)
    br[end#], defer[1]
    xcp_answer_write(buffer, done)

second#:
    alu[pools, pools, +, (1 << XCP_NEXT_LOG)]
    xcp_shares(positive, negative, delta, size, $left2, $left3, $scale4, $scale5, $scale6, again#)
    br[share#]

edge_positive#:
    alu[--, --, B, positive]
    beq[covered#]
    br[edge#]
edge_negative#:
    alu[--, $negative, -, negative]
    bgt[taken#]
edge#:
    alu[--, --, B, positive]
    beq[had_positive#]
    alu[--, $positive, -, positive]
    blt[undo#]
had_positive#:
    alu[--, --, B, negative]
    beq[emptied#]
    alu[--, $negative, -, negative]
    bge[emptied#]
undo#:
    pool_add($positive, pools, 0, positive, XCP_SPACE, scaled)
    pool_add($negative, pools, 4, negative, XCP_SPACE, pooled)
    ctx_arb[scaled, pooled]
again#:
    XCP_SPACE[read, $scale0, state, XCP_SCALES, 7], sig_done[scaled]
    XCP_SPACE[read, $left0, state, XCP_POOLS, 4], sig_done[pooled]
    xcp_delta(delta)
    ctx_arb[scaled, pooled]
    br[look#], defer[1]
    alu[pools, state, +, XCP_POOLS]

large#:
    alu[--, --, B, negative]
    beq[none#]
    pool_take(negative, pools, 4, again#)
none#:
    alu[--, --, B, positive]
    bmi[back#]
    beq[emptied#]
    pool_take(positive, pools, 0, uncovered#)
    br[emptied#]
uncovered#:
    pool_add($positive, pools, 4, negative, XCP_SPACE, pooled)
    ctx_arb[pooled]
    br[again#]
back#:
    pool_return(pools, positive)
emptied#:
    pools_emptied(state, pools, positive, negative)
    br[taken#]
end#:
.end
#endm

#endif
