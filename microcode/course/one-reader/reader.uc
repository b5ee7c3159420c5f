; reader.uc: adds up a kilobyte of DRAM. One context reads a quadword and sleeps until it
; is there.

#include "constant.uc"

.num_contexts 8

.reg read $$word0 $$word1
.xfer_order $$word0 $$word1
.reg write $sum
.reg base place left sum
.sig got done

    br=ctx[0, start#]
    ctx_arb[kill]                       ; the other contexts are not ours

start#:
    load_constant(base, BLOCK)
    immed[place, 0]
    immed[left, (BLOCK_SIZE / 8)]
    immed[sum, 0]

next#:
    dram[read, $$word0, base, place, 1], ctx_swap[got]
    alu[sum, sum, +, $$word0]
    alu[sum, sum, +, $$word1]
    alu[place, place, +, 8]
    alu[left, left, -, 1]
    bne[next#]

    load_constant(place, TOTAL)
    alu[$sum, --, B, sum]
    scratch[write, $sum, place, 0, 1], ctx_swap[done]
    ctx_arb[kill]
