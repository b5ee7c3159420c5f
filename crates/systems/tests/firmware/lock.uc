; lock.uc: a longword of SRAM is read, increased and written back, which is not
; atomic, under a lock that is taken with test_and_set. With LOCKED 0 no
; context takes the lock.

#include "constant.uc"

#define ROUNDS 16

.num_contexts 8

.reg read $before
.reg write $after
.sig done
#if (LOCKED)
.reg $bit lock cells
.sig both
#endif
.reg count round

    load_constant(count, COUNT)
#if (LOCKED)
    load_constant(lock, LOCK)
    immed[cells, 0]
#endif
    immed[round, ROUNDS]

again#:
#if (LOCKED)
try#:
    immed[$bit, 1]
    sram[test_and_set, $bit, lock, 0], ctx_swap[both]
    br_bset[$bit, 0, try#]
#endif

    sram[read, $before, count, 0, 1], ctx_swap[done]
    alu[$after, $before, +, 1]
    sram[write, $after, count, 0, 1], ctx_swap[done]

#if (LOCKED)
    immed[$bit, 1]
    sram[test_and_clr, $bit, lock, 0], ctx_swap[both]
    br_bset[$bit, 0, held#]
    scratch[incr, --, cells, NOT_HELD]
held#:
#endif

    alu[round, round, -, 1]
    bne[again#]
    ctx_arb[kill]
