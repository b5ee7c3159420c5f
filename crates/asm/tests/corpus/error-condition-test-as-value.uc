; error condition 2
.if ((a0 == 1) + 1 == 2)
nop
.endif
