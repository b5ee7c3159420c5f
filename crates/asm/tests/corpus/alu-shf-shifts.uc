; good
alu_shf[a1, --, B, b2, <<3]
alu_shf[a1, --, B, b2, >>31]
alu_shf[a1, a3, OR, b2, <<rot8]
alu_shf[a1, a3, AND, b2, >>rot8]
alu_shf[a1, a3, AND~, b2]
ctx_arb[kill]
