; good
alu[a1, a2, OR, b3, <<4]
alu_shf[a1, a2, OR, b3, <<4]
ctx_arb[kill]
