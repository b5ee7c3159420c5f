; error unused-register 3
#pragma warning(error:unused-register)
.reg x
nop
ctx_arb[kill]
