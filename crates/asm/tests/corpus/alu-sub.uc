; good
alu[a1, a2, -, b3]
alu[b1, b2, -, a3]
alu[--, 7, -, $4]
ctx_arb[kill]
