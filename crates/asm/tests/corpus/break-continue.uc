; good
.reg x y z
.set x y z
.while (x)
alu[x, x, -, 1]
.if (y)
.break
.elif (z)
.continue
.endif
alu[y, y, +, 1]
.endw
.repeat
alu[x, x, +, 1]
.if (x == 3)
.continue
.endif
.if (x == 5)
.break
.endif
.until (x == 9)
ctx_arb[kill]
