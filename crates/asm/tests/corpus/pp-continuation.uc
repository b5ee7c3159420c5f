; good
alu[a0,
  a1, +,
  b2]
ctx_arb[kill]
