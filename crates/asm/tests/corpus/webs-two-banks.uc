; good
.reg t x y
.areg x 3
.breg y 3
immed[x, 1]
immed[y, 2]
immed[t, 1]
alu[x, x, +, t]
immed[t, 2]
alu[y, y, +, t]
local_csr_wr[0x10, x]
local_csr_wr[0x10, y]
ctx_arb[kill]
