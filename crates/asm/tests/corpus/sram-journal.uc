; good
sram[journal, $0, a1, 4, 3], ctx_swap[s2]
ctx_arb[kill]
