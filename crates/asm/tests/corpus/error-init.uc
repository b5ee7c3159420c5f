; error undefined-register 7
; error constant-range 8
; error undefined-register 9

; Memory has its first values elsewhere; a register has 32 bits.
.reg x
.init TABLE+8 (1 + 2)
.init x 0x100000000
.init TABLE[1] 2
alu[--, x, +, 1]
ctx_arb[kill]
