; good
sram[write, $0, a1, b2, 8], ctx_swap[s2]
ctx_arb[kill]
