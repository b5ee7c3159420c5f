; good
.reg x y
    immed[x, 1]
    alu[y, x, -, 1]
    .if (==0)
        immed[y, 0x80]
    .endif
    alu[x, x, -, y]
    .while (>0)
        alu[x, x, -, 1]
    .endw
    alu[--, x, -, y]
    .if_unsigned (<0)
        nop
    .elif (!=0)
        nop
    .endif
    .if (!(<=0) && y == 1)
        nop
    .endif
    ctx_arb[kill]
