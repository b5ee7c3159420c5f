; error transfer-direction 7
; error transfer-direction 8
; error transfer-direction 9

.xfer_order_rd $in0 $in1
.xfer_order_wr $out0 $out1
immed[$in0, 1]
alu[a0, --, B, $out1]
sram[write, $in0, a0, 0, 2], ctx_swap[s1]
ctx_arb[kill]
