; error unbalanced-block 2
.break
nop
