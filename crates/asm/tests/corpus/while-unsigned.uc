; good
.reg x y z
.set x y z
.while_unsigned (x > y)
alu[x, x, -, 1]
.endw
ctx_arb[kill]
