; good
pci[read, $0, a1, 4, 2], ctx_swap[s1]
pci[write, $0, a1, 4, 2], ctx_swap[s1]
ctx_arb[kill]
