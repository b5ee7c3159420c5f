; add.uc: every context adds 1 to SUM, ROUNDS times. The memory adds, so there is nothing
; between a read and a write for others to come into.

#include "constant.uc"

#define ROUNDS 50

.num_contexts 8

.reg write $one
.reg place left
.sig done

    load_constant(place, SUM)
    immed[left, ROUNDS]
    alu[$one, --, B, 1]

again#:
    scratch[add, $one, place, 0], ctx_swap[done]
    alu[left, left, -, 1]
    bne[again#]
    ctx_arb[kill]
