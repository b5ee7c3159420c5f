; good
.reg $x
.sig s t
.addr s 4
.addr t 9
.addr $x 3
immed[a0, (mask(s) | mask(t))]
alu[a1, b1, AND, mask($x)]
ctx_arb[s, t]
immed[$x, 0]
ctx_arb[kill]
