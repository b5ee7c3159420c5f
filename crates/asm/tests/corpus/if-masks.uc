; good
.reg x y z
.set x y z
.if ((x & 63) == 0)
local_csr_wr[0x10, 1]
.endif
.if ((x & 63) > 5)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
