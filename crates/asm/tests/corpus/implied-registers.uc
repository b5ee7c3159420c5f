; good

; Registers that a directive places are declared by it, with a `.reg` or without.
.sig done
.xfer_order $out0 $out1
.xfer_order_rd $in[0] $in[1]
.areg count 0
.breg place 1
.begin
.reg $out0
immed[$out0, 1]
.end
immed[count, 3]
immed[place, 0]
alu[$out0, --, B, count]
alu[$out1, --, B, count]
scratch[write, $out0, place, 0, 2], ctx_swap[done]
scratch[read, $in0, place, 0, 2], ctx_swap[done]
alu[count, $in[0], +, 1]
alu[count, count, +, $in1]
br!=byte[count, 0, 3, end#]
end#: ctx_arb[kill]
