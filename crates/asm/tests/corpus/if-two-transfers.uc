; good
.reg x y z
.set x y z
.reg read $p $q
.set $p $q
.if ($p == $q)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
