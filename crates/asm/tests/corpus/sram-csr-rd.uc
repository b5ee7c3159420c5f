; good
sram[csr_rd, $0, a1, 4], ctx_swap[s2]
ctx_arb[kill]
