; good
.reg x y z
.set x y z
.reg @g
immed[@g, 1]
.if (BIT(@g, 1) || @g > 3)
local_csr_wr[0x10, 1]
.endif
ctx_arb[kill]
