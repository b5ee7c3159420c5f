; good
; warning unused-operand 5
.reg count value
    immed[count, 5]
    alu[value, count, B, 1]
    alu[$0, --, B, value]
    ctx_arb[kill]
