; lock.uc: a longword of SRAM is read, increased and written back, which is not
; atomic, under a lock that is taken with test_and_set. With LOCKED 0 nobody
; takes the lock.

#include "constant.uc"

#define ROUNDS 4

.num_contexts 8

.reg $bit
.reg read $before
.reg write $after
.sig both done
.reg lock count round

    load_constant(lock, LOCK)
    load_constant(count, COUNT)
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
    scratch[incr, --, NOT_HELD, 0]
held#:
#endif

    alu[round, round, -, 1]
    bne[again#]
    ctx_arb[kill]
