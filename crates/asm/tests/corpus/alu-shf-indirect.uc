; good
alu[--, a1, OR, 0]
alu_shf[a2, a3, OR, b2, <<indirect]
alu[--, a1, OR, 0]
alu_shf[a2, --, ~B, b2, >>indirect]
ctx_arb[kill]
