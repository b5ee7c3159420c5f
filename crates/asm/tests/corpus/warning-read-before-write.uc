; good
; warning read-before-write 4
.reg x
alu[--, --, B, x]
ctx_arb[kill]
