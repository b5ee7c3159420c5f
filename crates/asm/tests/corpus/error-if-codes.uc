; error condition 6
; error condition 8
; error condition 10
.reg x
    immed[x, 1]
    .if (==1)
    .endif
    .if (x + ==0)
    .endif
    .if_unsigned (>0)
    .endif
    ctx_arb[kill]
