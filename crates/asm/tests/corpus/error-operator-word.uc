; error syntax 5
; error syntax 6
; error syntax 7
    immed[a0, 1]
    alu[a1, a0, ADD, 1]
    alu[a1, a0, ^, 1]
    alu[a1, a0, XORR, 1]
    ctx_arb[kill]
