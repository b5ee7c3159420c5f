; good
alu[a1, a2, AND, b3]
alu[b1, b2, AND, a3]
alu[--, 7, AND, $4]
ctx_arb[kill]
