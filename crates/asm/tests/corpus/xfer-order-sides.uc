; good
.reg read $a $b
.reg write $a $b
.sig s
.xfer_order_rd $a $b
.xfer_order_wr $b $a
immed[$a, 1]
immed[$b, 2]
sram[write, $b, a0, 0, 2], ctx_swap[s]
sram[read, $a, a0, 0, 2], ctx_swap[s]
alu[a1, --, B, $b]
ctx_arb[kill]
