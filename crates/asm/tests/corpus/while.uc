; good
.reg x y z
.set x y z
.while (x != 0)
alu[x, x, -, 1]
.endw
ctx_arb[kill]
