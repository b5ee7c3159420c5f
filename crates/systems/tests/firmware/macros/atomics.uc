; Contexts up to CONTEXTS add and subtract in longwords of the unit SPACE; the old
; values that they were given go to OLD in SRAM. WHOLE 0 reads, adds and writes
; instead.

#include "constant.uc"
#include "atomic.uc"

#define ROUNDS 16

.num_contexts 8

.reg $value
#if (WHOLE)
.sig both
#else
.reg read $before
#endif
.reg write $after
.sig done
.reg count old round context amount

    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    alu[--, context, -, CONTEXTS]
    bhs[rest#]
    load_constant(count, COUNT)
    load_constant(old, OLD)
    alu[amount, context, +, (8 * ME_INDEX)]
    alu_shf[round, --, B, amount, <<6]          ; 4 * ROUNDS bytes a context
    alu[old, old, +, round]
    immed[round, ROUNDS]
again#:
#if (WHOLE)
    immed[$value, 3]
    atomic_add_read($value, count, 0, SPACE, both)
    ctx_arb[both]
    alu[$after, --, B, $value]
    sram[write, $after, old, 0, 1], ctx_swap[done]
#else
    SPACE[read, $before, count, 0, 1], ctx_swap[done]
    alu[$after, $before, +, 3]
    SPACE[write, $after, count, 0, 1], ctx_swap[done]
#endif
    immed[$value, 5]
    atomic_add($value, count, 4, SPACE, done)
    ctx_arb[done]
    atomic_sub($value, count, 8, amount, SPACE, done)
    ctx_arb[done]
    alu[old, old, +, 4]
    alu[round, round, -, 1]
    bne[again#]
rest#:
    ctx_arb[kill]
