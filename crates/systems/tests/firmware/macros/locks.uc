; Contexts up to CONTEXTS count in a longword of the unit SPACE, which reads, adds
; and writes, under a lock in LOCK_SPACE, or without it when LOCKED is 0.

#include "constant.uc"
#include "lock.uc"

#define ROUNDS 12

.num_contexts 8

#if (LOCKED > 0)
.reg $bit lock
.sig both rung
#endif
.reg read $before
.reg write $after
.sig done
.reg count round context

    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    alu[--, context, -, CONTEXTS]
    bhs[rest#]
#if (LOCKED > 0)
    load_constant(lock, LOCK)
#endif
    load_constant(count, COUNT)
    immed[round, ROUNDS]
again#:
#if (LOCKED > 0)
    lock_take($bit, lock, 4, LOCK_SPACE, both, rung)
#endif
    SPACE[read, $before, count, 0, 1], ctx_swap[done]
    alu[$after, $before, +, 1]
    SPACE[write, $after, count, 0, 1], ctx_swap[done]
#if (LOCKED > 0)
    lock_release($bit, lock, 4, LOCK_SPACE, done)
    ctx_arb[done]
#endif
    alu[round, round, -, 1]
    bne[again#]
rest#:
    ctx_arb[kill]
