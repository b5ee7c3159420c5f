; good
alu[a1, a2, +16, b3]
alu[b1, b2, +16, a3]
alu[--, 7, +16, $4]
ctx_arb[kill]
