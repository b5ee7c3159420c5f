; good
.sig s
local_csr_wr[SAME_ME_SIGNAL, (&s << 3)]
.set_sig s
ctx_arb[s]
ctx_arb[kill]
