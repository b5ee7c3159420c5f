; good
msf[read, $0, a1, 4, 2], ctx_swap[s1]
msf[write, $0, a1, 4, 2], ctx_swap[s1], defer[1]
nop
msf[fast_wr, --, 0, b1]
ctx_arb[kill]
