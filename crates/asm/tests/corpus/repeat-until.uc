; good
.reg x y z
.set x y z
.repeat
alu[x, x, -, 1]
.until (x == 0)
ctx_arb[kill]
