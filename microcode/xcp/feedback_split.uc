; No lock: pools are counted down by atomic commands; what arrived is counted by
; thread.
;
; The law is computed on what the pools were a moment ago, and what it takes is
; subtracted from them. If another context was faster and a pool has less now, the
; packet takes what there is, is computed again on that, and gives back what it does
; not need.

#ifndef XCP_FEEDBACK_UC
#define XCP_FEEDBACK_UC

#include "sums.uc"
#include "banks.uc"

.sig negative_taken

#macro extension_set_up()
    xcp_sums_set_up()
#endm

; The context's local memory: what it has of the pools.
#define XCP_HAS_POS 10
#define XCP_HAS_NEG 11

; xcp_shares(positive, negative, delta, size, residue_pos, residue_neg, cp, cn, shifts)
;   delta <- what the packet gets; positive, negative <- what is to leave the pools.
;   A scale factor of 0 needs no product.
#macro xcp_shares(positive, negative, delta, size, residue_pos, residue_neg, cp, cn, shifts)
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
    alu[--, --, B, $scale0]
    bne[second#]
    alu[both, --, B, $left0]
    alu[--, both, OR, $left1]
    bmi[below#]
    xcp_shares(positive, negative, delta, size, $left0, $left1, $scale1, $scale2, $scale3)
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
    alu[both, --, B, $left2]
    alu[--, both, OR, $left3]
    bmi[below#], defer[1]
    alu[pools, pools, +, (1 << XCP_NEXT_LOG)]
    xcp_shares(positive, negative, delta, size, $left2, $left3, $scale4, $scale5, $scale6)
    br[share#]

below#:
    ; Another context is about to give back; meanwhile that pool counts as empty.
    bank_scales(both, state, pools)
    XCP_SPACE[read, $scale1, both, XCP_CP, 3], sig_done[scaled]
    XCP_SPACE[read, $left0, pools, 0, 2], sig_done[pooled]
    ctx_arb[scaled, pooled]
    alu[both, --, B, $left0]
    bpl[some_positive#]
    immed[both, 0]
some_positive#:
    alu[*l$index1[XCP_HAS_POS], --, B, both]
    alu[both, --, B, $left1]
    bpl[some_negative#]
    immed[both, 0]
some_negative#:
    alu[*l$index1[XCP_HAS_NEG], --, B, both]
    xcp_shares(positive, negative, delta, size, *l$index1[XCP_HAS_POS], *l$index1[XCP_HAS_NEG], $scale1, $scale2, $scale3)
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

large#:
    ; As much as there is. The law on that gives the same, or less.
    alu[both, --, B, negative]
    beq[none#]
    pool_take(both, negative, pools, 4)
none#:
    alu[*l$index1[XCP_HAS_NEG], --, B, both]
    immed[both, 0]
    alu[--, positive, -, 1]
    blt[nothing#]
    pool_take(both, positive, pools, 0)
nothing#:
    alu[*l$index1[XCP_HAS_POS], --, B, both]
    bank_scales(both, state, pools)
    XCP_SPACE[read, $scale1, both, XCP_CP, 3], ctx_swap[scaled]
    xcp_delta(delta)
    xcp_shares(positive, negative, delta, size, *l$index1[XCP_HAS_POS], *l$index1[XCP_HAS_NEG], $scale1, $scale2, $scale3)
    alu[both, *l$index1[XCP_HAS_NEG], -, negative]
    beq[all_negative#]
    pool_add($positive, pools, 4, both, XCP_SPACE, pooled)
    ctx_arb[pooled]
all_negative#:
    alu[both, *l$index1[XCP_HAS_POS], -, positive]
    beq[emptied#]
    alu[--, --, B, positive]
    bmi[back#]
    pool_add($positive, pools, 0, both, XCP_SPACE, pooled)
    ctx_arb[pooled]
    br[emptied#]
back#:
    alu[both, --, B, *l$index1[XCP_HAS_POS]]
    pool_add($positive, pools, 0, both, XCP_SPACE, pooled)
    ctx_arb[pooled]
    pool_return(pools, positive)
emptied#:
    pools_emptied(state, pools, positive, negative)
    br[taken#]
end#:
.end
#endm

#endif
