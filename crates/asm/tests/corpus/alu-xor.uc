; good
alu[a1, a2, XOR, b3]
alu[b1, b2, XOR, a3]
alu[--, 7, XOR, $4]
ctx_arb[kill]
