; good
.local p q
immed[p, 1]
immed[q, 2]
alu[p, p, +, q]
.endlocal
ctx_arb[kill]
