; good
.reg x y z
.set x y z
.while (1)
alu[x, x, -, 1]
.endw
