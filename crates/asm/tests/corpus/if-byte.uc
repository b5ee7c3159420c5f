; good
.reg x y z
.set x y z
.if (BYTE(x, 2) == 0x45)
local_csr_wr[0x10, 1]
.endif
.if (BYTE(x, 0) != 1)
local_csr_wr[0x10, 1]
.endif
.if (BYTE(x, 1) > 7)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
