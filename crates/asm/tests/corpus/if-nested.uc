; good
.reg x y z
.set x y z
.if (x)
.if (y)
local_csr_wr[0x10, 1]
.else
nop
.endif
.endif
ctx_arb[kill]
