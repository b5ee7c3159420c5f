; good
.reg x y z
.set x y z
.if (x != y)
local_csr_wr[0x10, 1]
.endif
.if_unsigned (x != 5)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
