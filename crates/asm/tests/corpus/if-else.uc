; good
.reg x y z
.set x y z
.if (x)
local_csr_wr[0x10, 1]
.elif (y == 2)
local_csr_wr[0x10, 1]
.else
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
