; error condition 2
.if (a0 * 3 == 6)
nop
.endif
