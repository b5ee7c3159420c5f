; good
.reg x y z
.set x y z
.if (x == 9212)
local_csr_wr[0x10, 1]
.endif
.if (x < 0x12345678)
local_csr_wr[0x10, 1]
.endif
.if (x != -1)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
