; good
.reg x y z
.set x y z
.if (BIT(x, 3))
local_csr_wr[0x10, 1]
.endif
.if (!bit(y, 0))
local_csr_wr[0x10, 1]
.endif
.if (BIT(z, 31) == 0)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
