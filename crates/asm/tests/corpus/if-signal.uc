; good
.reg x y z
.set x y z
.sig s
.set_sig s
.if (SIGNAL(s))
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
