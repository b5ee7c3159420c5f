; neighbours.uc: the first microengine puts values on the next-neighbour ring,
; those between hand them on, and the last one writes them down. Of a value bits
; 31-16 are the producing context + 1 and bits 15-0 count on. With CHECKED 0
; no context looks whether the neighbour's ring is full.

#include "constant.uc"
#include "context_number.uc"

#define TOTAL        512
#define PER_PRODUCER (TOTAL / 8)

.num_contexts 8

#if (ME_INDEX == 0)
.reg value left
    context_number(value)
    alu[value, value, +, 1]
    alu_shf[value, --, B, value, <<16]
    immed[left, PER_PRODUCER]
put#:
#if (CHECKED)
    br_inp_state[NN_FULL, wait#]
#endif
    alu[*n$index++, --, B, value]
    alu[value, value, +, 1]
    alu[left, left, -, 1]
    bne[wait#]
    ctx_arb[kill]
wait#:
    ctx_arb[voluntary]
    br[put#]
#else
.reg total @moved
    load_constant(total, TOTAL)
    br!=ctx[0, move#]
    immed[@moved, 0]
move#:
    ctx_arb[voluntary]
    alu[--, total, -, @moved]
    bne[some#]
    ctx_arb[kill]
some#:
    br_inp_state[NN_EMPTY, move#]
#if (ME_INDEX < (ME_COUNT - 1))
#if (CHECKED)
    br_inp_state[NN_FULL, move#]
#endif
.reg value
    alu[value, --, B, *n$index++]
    alu[*n$index++, --, B, value]
    alu[@moved, @moved, +, 1]
    br[move#]
#else
.reg write $value
.sig done
.reg log moved place
    load_constant(log, LOG)
    alu[$value, --, B, *n$index++]
    alu[moved, --, B, @moved]
    alu_shf[place, --, B, moved, <<2]
    alu[@moved, moved, +, 1]
    sram[write, $value, log, place, 1], ctx_swap[done]
    br[move#]
#endif
#endif
