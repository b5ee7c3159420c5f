; good
alu[a1, --, B, b3]
alu[$1, --, ~B, 255]
alu[@a16, --, B, $$2]
ctx_arb[kill]
