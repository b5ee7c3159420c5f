; good
alu[a1, a2, +carry, b3]
alu[b1, b2, +carry, a3]
alu[--, 7, +carry, $4]
ctx_arb[kill]
