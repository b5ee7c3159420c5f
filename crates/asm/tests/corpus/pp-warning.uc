; good
; warning user-warning 3
#warning "careful"
nop
ctx_arb[kill]
