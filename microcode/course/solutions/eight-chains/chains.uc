; chains.uc: adds up the values of eight linked lists, a context a list. While one waits
; for a node the others go on.

#include "constant.uc"

.num_contexts 8

.reg read $next $value
.xfer_order $next $value
.reg write $sum
.reg base place node sum
.sig done

    load_constant(base, CHAINS)
    load_constant(place, TOTAL)
    local_csr_rd[ACTIVE_CTX_STS]
    immed[node, 0]
    alu[node, node, AND, 0x7]           ; this context's number is its list's
    alu_shf[node, --, B, node, <<3]
    immed[sum, 0]

node#:
    sram[read, $next, base, node, 2], ctx_swap[done]
    alu[sum, sum, +, $value]
    alu[node, --, B, $next]
    bne[node#]

    ; Eight contexts add to one longword: the memory has to do it.
    alu[$sum, --, B, sum]
    scratch[add, $sum, place, 0], ctx_swap[done]
    ctx_arb[kill]
