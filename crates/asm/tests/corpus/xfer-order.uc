; good
.reg $a $b $c
.sig s
.xfer_order $a $b $c
sram[read, $a, a0, 0, 3], ctx_swap[s]
alu[a0, $a, +, 1]
alu[a1, $b, +, 1]
alu[a2, $c, +, 1]
ctx_arb[kill]
