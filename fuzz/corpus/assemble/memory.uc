.reg a $x $y
.sig s
.xfer_order $x $y
immed[a, 0]
sram[read, $x, a, 0, 2], ctx_swap[s]
alu[a, $x, +, $y]
scratch[write, $x, a, 0, 1], ctx_swap[s]
halt
