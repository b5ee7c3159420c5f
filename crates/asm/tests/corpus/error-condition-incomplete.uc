; error condition 2
.if (a0 ==)
nop
.endif
