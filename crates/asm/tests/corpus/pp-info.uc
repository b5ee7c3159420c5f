; good
; note user-note 3
#info "value ", 3
nop
ctx_arb[kill]
