; good
; warning indirect-source 7
.reg count value
    immed[count, 5]
    immed[value, 1]
    alu[--, --, B, count]
    alu_shf[$0, --, B, value, <<indirect]
    ctx_arb[kill]
