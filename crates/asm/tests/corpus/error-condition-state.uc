; error unknown-state 2
.if (INP_STATE(nn_fool))
nop
.endif
