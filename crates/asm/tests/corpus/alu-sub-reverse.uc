; good
alu[a1, a2, B-A, b3]
alu[b1, b2, B-A, a3]
alu[--, 7, B-A, $4]
ctx_arb[kill]
