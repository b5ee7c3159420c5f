; error constant-range 2
.if (BIT(a0, 32))
nop
.endif
