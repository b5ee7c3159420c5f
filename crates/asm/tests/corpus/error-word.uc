; error constant-range 4
; error malformed-expression 5
    nop
    .word 0x10000000000
    .word
    ctx_arb[kill]
