; good
.reg x y z
.set x y z
.import_var LIMIT
.if (x < LIMIT)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
