; good
; warning indirect-source 4
nop
alu_shf[a0, --, B, b0, <<indirect]
ctx_arb[kill]
