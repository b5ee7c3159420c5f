; good
.reg volatile v
.reg global g
.reg visible x
.sig volatile s
immed[v, 1]
immed[g, 2]
immed[x, 3]
ctx_arb[s]
ctx_arb[kill]
