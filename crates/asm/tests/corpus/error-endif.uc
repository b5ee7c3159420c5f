; error unbalanced-block 2
.if (a0)
nop
