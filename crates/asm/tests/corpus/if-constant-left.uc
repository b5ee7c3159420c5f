; good
.reg x y z
.set x y z
.if (5 < x)
local_csr_wr[0x10, 1]
.endif
.if (0 == y)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
