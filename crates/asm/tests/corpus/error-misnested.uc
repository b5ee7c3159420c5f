; error unbalanced-block 4
.if (a0)
.while (a1)
.endif
.endw
.endif
nop
