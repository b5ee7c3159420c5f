; good
.import limit
.reg x y
.set x y
.while_signed (x < 10)
.if_signed (x < 1)
alu[x, x, +, 1]
.elif_signed (x < 2)
alu[x, x, +, 2]
.elif_likely (x < 3)
alu[x, x, +, 3]
.elif_unlikely (x < 4)
alu[x, x, +, 4]
.endif
.if_likely_unsigned (x < y)
alu[x, x, +, 5]
.endif
.if_unlikely_unsigned (x < y)
alu[x, x, +, 6]
.endif
.endw
.repeat
alu[y, y, -, 1]
.until_signed (y < 1)
immed[x, limit]
local_csr_wr[0x10, x]
ctx_arb[kill]
