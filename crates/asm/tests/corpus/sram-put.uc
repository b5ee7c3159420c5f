; good
sram[put, $0, a1, 4, 2], ctx_swap[s2]
ctx_arb[kill]
