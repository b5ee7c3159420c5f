; good
; warning unused-register 3
.reg x
ctx_arb[kill]
