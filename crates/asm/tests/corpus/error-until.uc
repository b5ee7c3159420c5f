; error unbalanced-block 2
.repeat
nop
