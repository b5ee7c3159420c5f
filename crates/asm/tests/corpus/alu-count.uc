; good

; What an operator passes over is the count of the indirect shift after it.
.reg count value
    immed[count, 5]
    immed[value, 1]
    alu[--, count, B, 0]
    alu_shf[$0, --, B, value, <<indirect]
    alu[value, count, ~B, value]
    dbl_shf[value, value, count, >>indirect]
    alu_shf[value, count, B, value, >>4]
    alu_shf[$1, --, B, value, >>indirect]
    alu[--, a0, B, 0]
    alu_shf[$2, --, B, value, >>indirect]
    ctx_arb[kill]
