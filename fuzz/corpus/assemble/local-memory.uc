.reg x
local_csr_wr[active_lm_addr_0, 0]
nop
nop
nop
alu[x, --, B, *l$index0++]
br=byte[x, 1, 5, e#]
nop
e#:
halt
