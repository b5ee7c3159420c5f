; good
.reg x y z
.set x y z
alu[x, x, +, y]
.if (COUT)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
