; good
.reg x y z
.set x y z
.repeat
alu[x, x, -, 1]
.until_unsigned (x < y)
ctx_arb[kill]
