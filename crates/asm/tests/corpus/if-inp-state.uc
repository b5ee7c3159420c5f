; good
.reg x y z
.set x y z
.if (INP_STATE(nn_full))
local_csr_wr[0x10, 1]
.endif
.while (!inp_state(SCR_RING2_STATUS))
nop
.endw
ctx_arb[kill]
