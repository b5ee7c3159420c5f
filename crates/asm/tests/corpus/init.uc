; good
.reg x y
.init x 5
.init_ctx 3 y 0x80000000
.init @a16 7
alu[x, x, +, y]
local_csr_wr[0x10, x]
ctx_arb[kill]
