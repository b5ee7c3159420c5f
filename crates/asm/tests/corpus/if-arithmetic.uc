; good
.reg x y z
.set x y z
.if ((x + 1) == (y - z))
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
