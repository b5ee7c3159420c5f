; good
; warning pointer-too-soon 6
local_csr_wr[ACTIVE_LM_ADDR_1, a0]
nop
nop
alu[a1, --, B, *l$index1[2]]
ctx_arb[kill]
