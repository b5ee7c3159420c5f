; good
sram[test_and_incr, $0, a1, 4], ctx_swap[s2]
ctx_arb[kill]
