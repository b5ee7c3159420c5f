; good
ffs[a1, b2]
ffs[b1, a2]
ffs[--, $3]
ctx_arb[kill]
