; error unbalanced-block 4
.if (a0)
.else
.elif (a1)
.endif
nop
