; good
.reg x $t
.set x
local_csr_wr[0x10, x]
immed[x, 3]
.use x
.set_rd $t
alu[a0, --, B, $t]
immed[$t, 1]
.use_wr $t
ctx_arb[kill]
