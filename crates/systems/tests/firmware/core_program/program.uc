; program.uc: context 0 puts the numbers from 1 to ROUNDS onto a ring, with an interrupt of the core each,
; polls another ring for the answer, and writes the sum of all answers down.

#include "constant.uc"

.num_contexts 8

.reg write $number
.reg read $answer
.reg write $sum
.reg context number answer sum last to_core from_core place
.sig done

    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    beq[ask#]
    ctx_arb[kill]
ask#:
    load_constant(to_core, TO_CORE)
    load_constant(from_core, FROM_CORE)
    load_constant(place, SUM)
    load_constant(last, ROUNDS)
    immed[number, 1]
    immed[sum, 0]
next#:
    alu[$number, --, B, number]
    scratch[put, $number, to_core, 0, 1], ctx_swap[done]
    cap[fast_wr, 0, XSCALE_INT_A]
poll#:
    scratch[get, $answer, from_core, 0, 1], ctx_swap[done]
    alu[answer, --, B, $answer]
    beq[poll#]
    alu[sum, sum, +, answer]
    alu[--, number, -, last]
    beq[end#]
    alu[number, number, +, 1]
    br[next#]
end#:
    alu[$sum, --, B, sum]
    scratch[write, $sum, place, 0, 1], ctx_swap[done]
    ctx_arb[kill]
