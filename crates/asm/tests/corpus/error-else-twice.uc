; error unbalanced-block 4
.if (a0)
.else
.else
.endif
nop
