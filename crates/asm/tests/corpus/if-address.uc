; good
.reg x y z
.set x y z
.sig s
.addr s 5
.if (x == &s)
local_csr_wr[0x10, 1]
.endif
ctx_arb[s]
ctx_arb[kill]
