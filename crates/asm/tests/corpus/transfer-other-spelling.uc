; good

; `$x[1]` and `$x1` are one register, however it is declared.
.reg $x0 $x1 $y[2] a
.xfer_order $x[0] $x[1]
.xfer_order $y
.sig s
#define i 1
immed[a, 0]
sram[read, $x[0], a, 0, 2], ctx_swap[s]
alu[a, $x[0], +, 1]
alu[a, a, +, $x[i]]
alu[$y0, --, B, a]
alu[$y1, --, B, $x1]
sram[write, $y[0], a, 0, 2], ctx_swap[s]
ctx_arb[kill]
