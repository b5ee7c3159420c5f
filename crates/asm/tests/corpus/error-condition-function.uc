; error unknown-function 2
.if (BITS(a0, 1))
nop
.endif
