; good
; warning transfer-in-flight 6
.sig s
.reg read $x
sram[read, $x, a0, 0, 1], sig_done[s]
alu[a1, --, B, $x]
ctx_arb[s]
ctx_arb[kill]
