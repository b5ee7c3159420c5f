; good

; Another name of `nop`.
nop_volatile
NOP_VOLATILE
ctx_arb[kill]
