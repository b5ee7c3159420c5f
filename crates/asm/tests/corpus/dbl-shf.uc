; good
dbl_shf[a1, a2, b3, >>4]
alu[--, a4, OR, 0]
dbl_shf[a1, a2, b3, >>indirect]
ctx_arb[kill]
