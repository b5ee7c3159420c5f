; good
.reg x y z
.set x y z
.if (1)
local_csr_wr[0x10, 1]
.else
nop
.endif
ctx_arb[kill]
