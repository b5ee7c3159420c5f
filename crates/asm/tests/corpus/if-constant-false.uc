; good
.reg x y z
.set x y z
.if (2 > 3)
nop
.elif (0)
nop
.else
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
