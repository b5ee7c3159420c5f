; Pools without a lock. A group's longwords in XCP_STATE, 64 bytes:
;    0  phase          0 or 1: which bank is valid
;    1  Cp             mantissa: positive feedback for 2^-28 s between packets
;    2  Cn             mantissa: negative feedback for a byte
;    3  shifts         Cn's << 8 | Cp's: C = mantissa * 2^-shift
;    4                 the same three of bank 1
;    8  residue_pos    positive feedback left in bank 0, byte/s
;    9  residue_neg    negative feedback left in bank 0, byte/s
;   10                 the same two of bank 1
; The slow path writes the bank that is not valid and then the phase. What was taken
; from a bank comes back to that bank, whatever the phase is by then.
;
; A pool is a signed longword. A context that takes something subtracts it and learns what
; was there before. If that was less it adds the same amount again and has nothing;
; meanwhile the pool may be below 0. So what is kept is never more than what there
; was. Not more than XCP_MOST is subtracted at a time, so that a pool cannot turn
; over even if all contexts of a chip subtract in vain. Only if far more comes back
; than any link has, 2^31 byte/s, may the positive pool look as if it were below 0;
; then it gives nothing until the next interval.

#ifndef XCP_BANKS_UC
#define XCP_BANKS_UC

#include "state.uc"
#include "law.uc"

#define XCP_SCALES     0
#define XCP_POOLS      32
#define XCP_MOST_LOG   23
#define XCP_MOST       ((1 << XCP_MOST_LOG) - 1)

; In XCP_STATE: the mantissas of Cp and Cn in bank 0, bytes from there to bank 1.
#define XCP_CP         4
#define XCP_CN         8
#define XCP_NEXT_SCALE 12
; Bytes from a bank's pools to the other's.
#define XCP_NEXT_LOG   3

.reg $scale0 $scale1 $scale2 $scale3 $scale4 $scale5 $scale6
.xfer_order $scale0 $scale1 $scale2 $scale3 $scale4 $scale5 $scale6
.reg $left0 $left1 $left2 $left3
.xfer_order $left0 $left1 $left2 $left3
.reg $positive $negative
.sig scaled pooled
.sig positive_taken

; pool_subtract($value, pool, offset, amount, space, done)
;   Takes `amount` out of a pool; $value <- what was there when `done`, a pair of
;   signals, has come. SRAM can only add.
#macro pool_subtract(value, pool, offset, amount, space, done)
#if (streq('space', 'scratch'))
    alu[value, --, B, amount]
    space[test_and_sub, value, pool, offset], sig_done[done]
#else
    alu[value, amount, B-A, 0]
    space[test_and_add, value, pool, offset], sig_done[done]
#endif
#endm

; pool_add($value, pool, offset, amount, space, done)
;   Gives `amount` back.
#macro pool_add(value, pool, offset, amount, space, done)
    alu[value, --, B, amount]
    space[add, value, pool, offset], sig_done[done]
#endm

; pool_take(got, amount, pool, offset)
;   got <- what the pool has of `amount`, not 0. In steps; the first that the pool does
;   not cover is the last.
#macro pool_take(got, amount, pool, offset)
.begin
    .reg part
    immed[got, 0]
more#:
    load_constant(part, XCP_MOST)
.begin
    .reg rest
    alu[rest, amount, -, got]
    least(part, rest)
.end
    pool_subtract($positive, pool, offset, part, XCP_SPACE, positive_taken)
    ctx_arb[positive_taken]
    alu[--, $positive, -, part]
    bge[had#]
    alu[--, --, B, $positive]
    bmi[none#]
    alu[part, part, -, $positive]
    alu[got, got, +, $positive]
none#:
    pool_add($positive, pool, offset, part, XCP_SPACE, pooled)
    ctx_arb[pooled]
    br[done#]
had#:
    alu[got, got, +, part]
    alu[--, amount, -, got]
    bne[more#]
done#:
.end
#endm

; pool_return(pools, positive)
;   `positive`, which is below 0, comes back to the positive pool, which is held below
;   2^31: a context that brings it above takes the rest out again. If it was above that already
;   (bits 31 and 30 are 1 and 0; vain subtractions do not reach so far), all of it.
#macro pool_return(pools, positive)
.begin
    .reg amount sum
    alu[amount, positive, B-A, 0]
    alu[$positive, --, B, amount]
    XCP_SPACE[test_and_add, $positive, pools, 0], sig_done[positive_taken]
    ctx_arb[positive_taken]
    alu[sum, --, B, $positive]
    bpl[whole#]
    br_bset[sum, 30, done#]
    br[surplus#], defer[1]
    alu[sum, --, B, amount]
whole#:
    alu[sum, sum, +, amount]
    bpl[done#]
    ; The excess over 2^31 - 1.
    alu_shf[sum, sum, AND~, 1, <<31]
    alu[sum, sum, +, 1]
surplus#:
    pool_subtract($positive, pools, 0, sum, XCP_SPACE, positive_taken)
    ctx_arb[positive_taken]
done#:
.end
#endm

; bank_scales(scales, state, pools)
;   scales <- where the scale factors are that belong to `pools`, less XCP_CP.
#macro bank_scales(scales, state, pools)
    alu[scales, pools, -, state]
    br_bclr[scales, XCP_NEXT_LOG, bank#], defer[1]
    alu[scales, --, B, state]
    alu[scales, scales, +, XCP_NEXT_SCALE]
bank#:
#endm

; pools_emptied(state, pools, positive, negative)
;   After something was taken: a pool that is empty now has its scale factor set to
;   0, so that nothing is computed of it until the slow path fills it again.
#macro pools_emptied(state, pools, positive, negative)
.begin
    .reg scale
    XCP_SPACE[read, $left0, pools, 0, 2], ctx_swap[pooled]
    immed[$positive, 0]
    bank_scales(scale, state, pools)
    alu[--, positive, -, 1]
    blt[no_positive#]
    alu[--, --, B, $left0]
    bne[no_positive#]
    XCP_SPACE[write, $positive, scale, XCP_CP, 1], ctx_swap[pooled]
no_positive#:
    alu[--, --, B, negative]
    beq[done#]
    alu[--, --, B, $left1]
    bne[done#]
    XCP_SPACE[write, $positive, scale, XCP_CN, 1], ctx_swap[pooled]
done#:
.end
#endm

#endif
