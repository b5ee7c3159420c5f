; good
.reg w[3] $d[2]
.xfer_order $d
.sig s[2]
immed[w[0], 1]
immed[w[(1 + 1)], 2]
immed[$d[0], 3]
immed[$d[1], 4]
sram[write, $d[0], w[0], 0, 2], ctx_swap[s[0]]
local_csr_wr[0x10, w[2]]
ctx_arb[kill]
