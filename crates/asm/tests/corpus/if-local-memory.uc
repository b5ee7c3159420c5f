; good
.reg x y z
.set x y z
.if (*l$index0[2] == *l$index0[3])
local_csr_wr[0x10, 1]
.endif
.if (BIT(*l$index0[9], 1))
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
