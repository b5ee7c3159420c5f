; No lock, and seldom a command: each microengine has a share of the pools in its
; local memory. Contexts are not interrupted, so nothing else protects it. When the
; share is used up, more is taken out of the pools by atomic commands; what is left
; of it when the slow path changes the bank goes back to the old one.

#ifndef XCP_FEEDBACK_UC
#define XCP_FEEDBACK_UC

#define XCP_SUMS_LATER

#include "sums.uc"
#include "banks.uc"

; A group's longwords in local memory, 32 bytes at XCP_SHARE + group * 32.
#define XCP_SHARE       0x100
#define XCP_SHARE_SHIFT 5
#define SHARE_POS    0  ; the microengine's part of residue_pos
#define SHARE_NEG    1  ; and of residue_neg
#define SHARE_CP     2
#define SHARE_CN     3
#define SHARE_SHIFTS 4
#define SHARE_POOLS  5  ; address of the bank's pools
#define SHARE_LOOKED 6  ; time when the phase was looked at
#define SHARE_MORE   7  ; bits below: there may be more in the pool
#define MORE_POS_BIT 0
#define MORE_NEG_BIT 1

; The phase is looked at after 2^10 steps of 16 cycles.
#define XCP_AGE_LOG 10
; A share is at least this, and this part of what is left in the pool.
#define XCP_LEAST_SHARE  4096
#define XCP_SHARE_LOG    5

#macro extension_set_up()
.begin
    .reg place age
    xcp_sums_set_up()
    br!=ctx[0, other#]
    alu_shf[age, --, B, 1, <<XCP_AGE_LOG]
#define_eval N 0
#while (N < THREAD_GROUPS)
    immed[place, (XCP_SHARE + (N << XCP_SHARE_SHIFT))]
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    time_now(place)
    alu[place, place, -, age]
    immed[*l$index0[SHARE_POS], 0]
    immed[*l$index0[SHARE_NEG], 0]
    immed[*l$index0[SHARE_CP], 0]
    immed[*l$index0[SHARE_CN], 0]
    immed[*l$index0[SHARE_SHIFTS], 0]
    immed[*l$index0[SHARE_POOLS], 0]
    alu[*l$index0[SHARE_LOOKED], --, B, place]
    immed[*l$index0[SHARE_MORE], 0]
#define_eval N (N + 1)
#endloop
other#:
.end
#endm

; shares_look(port_out)
;   Looks at the phase. With another bank the share goes back to the old one, and
;   scale factors come from the new one.
#macro shares_look(port_out)
.begin
    .reg state pools
    alu[*l$index0[SHARE_LOOKED], --, B, stamp]
    xcp_group(state, port_out)
    XCP_SPACE[read, $scale0, state, XCP_SCALES, 7], ctx_swap[scaled]
    alu[--, --, B, $scale0]
    beq[bank#], defer[1]
    alu[pools, state, +, XCP_POOLS]
    alu[pools, pools, +, (1 << XCP_NEXT_LOG)]
bank#:
    alu[state, --, B, *l$index0[SHARE_POOLS]]
    alu[--, pools, -, state]
    beq[same#]
    alu[*l$index0[SHARE_POOLS], --, B, pools]
    alu[$positive, --, B, *l$index0[SHARE_POS]]
    alu[$negative, --, B, *l$index0[SHARE_NEG]]
    immed[*l$index0[SHARE_POS], 0]
    immed[*l$index0[SHARE_NEG], 0]
    immed[*l$index0[SHARE_MORE], ((1 << MORE_POS_BIT) | (1 << MORE_NEG_BIT))]
    alu[--, --, B, $scale0]
    bne[second#]
    alu[*l$index0[SHARE_CP], --, B, $scale1]
    alu[*l$index0[SHARE_CN], --, B, $scale2]
    alu[*l$index0[SHARE_SHIFTS], --, B, $scale3]
    br[give#]
second#:
    alu[*l$index0[SHARE_CP], --, B, $scale4]
    alu[*l$index0[SHARE_CN], --, B, $scale5]
    alu[*l$index0[SHARE_SHIFTS], --, B, $scale6]
give#:
    ; Before the first look no bank was there; what packets brought until then goes
    ; to this one.
    alu[--, --, B, state]
    bne[back#]
    alu[state, --, B, pools]
back#:
    XCP_SPACE[add, $positive, state, 0], sig_done[scaled]
    XCP_SPACE[add, $negative, state, 4], sig_done[pooled]
    ctx_arb[scaled, pooled]
same#:
.end
#endm

; shares_take(share, offset, bit, again#)
;   More of the pool at `offset` for local memory longword `share`, as much as the
;   pool gives; clears `bit` when that was all. Then to again#.
#macro shares_take(share, offset, bit, again)
.begin
    .reg pools part got
    alu[pools, --, B, *l$index0[SHARE_POOLS]]
    XCP_SPACE[read, $left0, pools, offset, 1], ctx_swap[pooled]
    ; At least what the share was, so that a large need is met in a few steps.
    immed[part, XCP_LEAST_SHARE]
    alu_shf[got, --, B, $left0, >>XCP_SHARE_LOG]
    alu[part, part, +, got]
    alu[part, part, +, *l$index0[share]]
    load_constant(got, XCP_MOST)
    least(part, got)
    pool_subtract($positive, pools, offset, part, XCP_SPACE, positive_taken)
    ctx_arb[positive_taken]
    alu[--, $positive, -, part]
    bge[all#], defer[1]
    alu[got, --, B, part]
    alu[got, --, B, $positive]
    bpl[some#]
    immed[got, 0]
some#:
    alu[part, part, -, got]
    pool_add($positive, pools, offset, part, XCP_SPACE, pooled)
    ctx_arb[pooled]
    alu[--, pools, -, *l$index0[SHARE_POOLS]]
    bne[all#]
    alu_shf[*l$index0[SHARE_MORE], *l$index0[SHARE_MORE], AND~, 1, <<bit]
all#:
    alu[--, pools, -, *l$index0[SHARE_POOLS]]
    bne[late#]
    br[again], defer[1]
    alu[*l$index0[share], got, +, *l$index0[share]]
late#:
    ; The bank has changed meanwhile.
    pool_add($positive, pools, offset, got, XCP_SPACE, pooled)
    ctx_arb[pooled]
    br[again]
.end
#endm

#macro xcp_exchange(buffer, delta, size, port_out, done)
.begin
    .reg positive negative place
    xcp_arrive(size, port_out)
#if (THREAD_GROUPS == 1)
    immed[place, XCP_SHARE]
#else
    alu_shf[place, --, B, port_out, <<XCP_SHARE_SHIFT]
    alu_shf[place, place, OR, 1, <<8]
#endif
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    xcp_answer_begin()
    ipv4_rewrite(ttl_step)
    alu[place, stamp, -, *l$index0[SHARE_LOOKED]]
    alu_shf[--, --, B, place, >>XCP_AGE_LOG]
    bne[old#]
look#:
    alu[--, --, B, *l$index0[SHARE_CP]]
    beq[no_cp#], defer[1]
    immed[positive, 0]
    xcp_positive(positive, *l$index0[SHARE_POS], *l$index0[SHARE_CP], *l$index0[SHARE_SHIFTS])
no_cp#:
    alu[--, --, B, *l$index0[SHARE_CN]]
    beq[no_cn#], defer[1]
    immed[negative, 0]
    xcp_negative(negative, size, *l$index0[SHARE_NEG], *l$index0[SHARE_CN], *l$index0[SHARE_SHIFTS])
no_cn#:
    xcp_settle(positive, negative, delta, *l$index0[SHARE_NEG])
    ; The rest of the share. If it is 0 there may be more in the pool, or that is empty.
    alu[negative, *l$index0[SHARE_NEG], -, negative]
    bne[covered#], defer[1]
    alu[positive, *l$index0[SHARE_POS], -, positive]
    br_bset[*l$index0[SHARE_MORE], MORE_NEG_BIT, more_negative#]
    br_bclr[*l$index0[SHARE_MORE], MORE_POS_BIT, empty#]
    alu[--, --, B, positive]
    beq[more_positive#]
empty#:
    immed[*l$index0[SHARE_CN], 0]
covered#:
    alu[--, --, B, positive]
    beq[no_positive#]
    bmi[much#]
keep#:
    alu[*l$index0[SHARE_POS], --, B, positive]
    alu[*l$index0[SHARE_NEG], --, B, negative]
    xcp_answer_delta(delta)
    br[end#], defer[1]
    xcp_answer_write(buffer, done)

much#:
    br[keep#], defer[2]
    alu[positive, --, ~B, 0]
    alu_shf[positive, --, B, positive, >>1]
    ; A share that large is not made larger, so that it stays below 2^31.
more_negative#:
    br_bset[*l$index0[SHARE_NEG], 30, covered#]
    shares_take(SHARE_NEG, 4, MORE_NEG_BIT, again#)
no_positive#:
    br_bset[*l$index0[SHARE_MORE], MORE_POS_BIT, more_positive#]
    br[keep#], defer[1]
    immed[*l$index0[SHARE_CP], 0]
more_positive#:
    br_bset[*l$index0[SHARE_POS], 30, keep#]
    shares_take(SHARE_POS, 0, MORE_POS_BIT, again#)
old#:
    shares_look(port_out)
again#:
    xcp_delta(delta)
    br[look#]
end#:
.end
#endm

#endif
