; good
.reg x y z
.set x y z
.if (CTX() == 3)
local_csr_wr[0x10, 1]
.endif
.if (ctx() != 0)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
