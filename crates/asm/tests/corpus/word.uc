; good

; Words as they stand in the control store: an unused field that is not empty, a
; branch with reserved bits, and no instruction at all.
    alu[--, --, B, 1]
    .word 0x8c30100901
    .word (0xd800000100 | 0x20)
    .word 0xffffffffff
    .word 0xb0c0300f01
    ctx_arb[kill]
