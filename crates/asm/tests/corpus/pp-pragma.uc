; good
; warning unused-register 6
#pragma warning(disable:unused-register)
.reg x
#pragma warning(default)
.reg y
nop
ctx_arb[kill]
