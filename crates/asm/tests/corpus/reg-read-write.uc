; good
.reg read $x
.reg write $x
.sig s
immed[$x, 1]
sram[write, $x, a0, 0, 1], ctx_swap[s]
sram[read, $x, a0, 0, 1], ctx_swap[s]
alu[a0, --, B, $x]
ctx_arb[kill]
