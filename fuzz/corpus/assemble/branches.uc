.reg x
immed[x, 3]
l#:
alu[x, x, -, 1]
bne[l#]
ctx_arb[kill]
