; chains.uc: adds up the values of eight linked lists, one list after the other. One
; context works; it sleeps whenever it reads.

#include "constant.uc"

.num_contexts 8

.reg read $next $value
.xfer_order $next $value
.reg write $sum
.reg base place head node sum
.sig done

    br=ctx[0, start#]
    ctx_arb[kill]                       ; contexts 1 to 7 have nothing to do

start#:
    load_constant(base, CHAINS)
    load_constant(place, TOTAL)
    immed[sum, 0]
    immed[head, 0]

list#:
    alu_shf[node, --, B, head, <<3]     ; the first nodes lie side by side
node#:
    sram[read, $next, base, node, 2], ctx_swap[done]
    alu[sum, sum, +, $value]
    alu[node, --, B, $next]
    bne[node#]

    alu[head, head, +, 1]
    alu[--, head, -, 8]
    bne[list#]

    alu[$sum, --, B, sum]
    scratch[write, $sum, place, 0, 1], ctx_swap[done]
    ctx_arb[kill]
