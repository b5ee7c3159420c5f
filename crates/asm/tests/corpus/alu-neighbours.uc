; good
alu[a1, --, B, n$3]
alu[a1, --, B, *n$index++]
alu[*n$index++, --, B, a1]
alu[a2, --, B, *n$index]
ctx_arb[kill]
