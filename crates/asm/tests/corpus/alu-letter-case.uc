; good
ALU[A1, a2, and, b3]
Alu[b1, B2, xOr, 5]
ctx_arb[kill]
