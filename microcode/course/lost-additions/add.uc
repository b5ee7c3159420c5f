; add.uc: every context adds 1 to SUM, ROUNDS times: reads, adds, writes.

#include "constant.uc"

#define ROUNDS 50

.num_contexts 8

.reg read $old
.reg write $new
.reg place left sum
.sig done

    load_constant(place, SUM)
    immed[left, ROUNDS]

again#:
    scratch[read, $old, place, 0, 1], ctx_swap[done]
    alu[sum, $old, +, 1]
    alu[$new, --, B, sum]
    scratch[write, $new, place, 0, 1], ctx_swap[done]
    alu[left, left, -, 1]
    bne[again#]
    ctx_arb[kill]
