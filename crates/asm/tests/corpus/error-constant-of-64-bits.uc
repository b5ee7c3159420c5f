; error constant-range 4
; error expression-overflow 5
    ctx_arb[voluntary]
    immed[a0, 0xffffffffffffffff]
    immed[a1, (3 << 63)]
    ctx_arb[kill]
