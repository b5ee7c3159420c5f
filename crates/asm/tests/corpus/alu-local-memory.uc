; good
alu[*l$index0[3], a1, +, *l$index0[2]]
alu[*l$index1++, --, B, b1]
alu[a1, --, B, *l$index0--]
ctx_arb[kill]
