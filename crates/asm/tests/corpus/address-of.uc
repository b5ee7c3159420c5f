; good
.reg $x y
.sig s
.addr $x 3
.addr s 6
.xfer_order $x
immed[y, (&$x | (&s << 12))]
alu[y, y, +, &s]
immed[$x, 1]
local_csr_wr[0x10, y]
ctx_arb[s]
ctx_arb[kill]
