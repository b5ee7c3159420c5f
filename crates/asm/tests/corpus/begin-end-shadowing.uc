; good
.reg x
immed[x, 1]
.begin
.reg x
immed[x, 2]
local_csr_wr[0x10, x]
.end
local_csr_wr[0x10, x]
ctx_arb[kill]
