; error unexpected-bracket 3

immed[a0, 1)
ctx_arb[kill]
