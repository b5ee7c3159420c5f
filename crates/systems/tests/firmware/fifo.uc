; fifo.uc: context 0 of the first microengine moves the free buffers, each pair
; swapped, to another queue; context 1 of the last one takes them off there.
; Both write down the order.

#include "constant.uc"
#include "buffer.uc"

.num_contexts 8

#if (ME_INDEX > 0 && ME_INDEX < (ME_COUNT - 1))
    ctx_arb[kill]
#else
.reg read $first
.reg write $log0 $log1
.xfer_order $log0 $log1
.sig done
.reg free pipe log left a

    load_constant(free, FREE_BUFFERS)
    load_constant(pipe, PIPE)

#if (ME_INDEX == 0)
    br=ctx[0, producer#]
#endif
#if (ME_INDEX == (ME_COUNT - 1))
    br=ctx[1, consumer#]
#endif
    ctx_arb[kill]

#if (ME_INDEX == 0)
producer#:
.reg read $second
.reg b
    load_constant(log, PUT_ORDER)
    immed[left, (BUFFER_COUNT / 2)]
put#:
    buffer_take(a, free, $first, done)
    buffer_take(b, free, $second, done)
    buffer_return(b, pipe)
    buffer_return(a, pipe)
    alu[$log0, --, B, b]
    alu[$log1, --, B, a]
    sram[write, $log0, log, 0, 2], ctx_swap[done]
    alu[log, log, +, 8]
    alu[left, left, -, 1]
    bne[put#]
    ctx_arb[kill]
#endif

#if (ME_INDEX == (ME_COUNT - 1))
consumer#:
    load_constant(log, GOT_ORDER)
    immed[left, BUFFER_COUNT]
get#:
    buffer_take(a, pipe, $first, done)
    alu[$log0, --, B, a]
    beq[get#]
    sram[write, $log0, log, 0, 1], ctx_swap[done]
    alu[log, log, +, 4]
    alu[left, left, -, 1]
    bne[get#]
    ctx_arb[kill]
#endif
#endif
