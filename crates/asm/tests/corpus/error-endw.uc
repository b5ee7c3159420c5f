; error unbalanced-block 2
.while (a0)
nop
