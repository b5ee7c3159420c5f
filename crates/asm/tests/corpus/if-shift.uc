; good
.reg x y z
.set x y z
.if ((x >> 4) == 3 && (x << y))
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
