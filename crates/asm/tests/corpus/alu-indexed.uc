; good
alu[a1, --, B, *$index]
alu[*$$index++, --, B, a1]
alu[b1, --, B, *$$index--]
ctx_arb[kill]
