; good
.reg x y z
.set x y z
.if (streq('a', 'b') || log2(8) == 3)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
