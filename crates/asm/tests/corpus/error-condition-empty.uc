; error condition 2
.if
nop
.endif
