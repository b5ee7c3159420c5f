; good
cap[fast_wr, 5, XSCALE_INT_A]
alu[--, a1, OR, 0]
cap[fast_wr, ALU, XSCALE_INT_A]
cap[read, $0, XSCALE_INT_A], ctx_swap[s1]
cap[write, $0, 0x4b20, 2], ctx_swap[s1]
ctx_arb[kill]
