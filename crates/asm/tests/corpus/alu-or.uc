; good
alu[a1, a2, OR, b3]
alu[b1, b2, OR, a3]
alu[--, 7, OR, $4]
ctx_arb[kill]
