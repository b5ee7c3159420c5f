; good
alu[a1, a2, +8, b3]
alu[b1, b2, +8, a3]
alu[--, 7, +8, $4]
ctx_arb[kill]
