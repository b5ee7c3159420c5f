; error unbalanced-scope 2
.subroutine
nop
