; good
; warning transfer-in-flight 5
.sig s
sram[write, $0, a0, 0, 1], sig_done[s]
immed[$0, 3]
ctx_arb[s]
ctx_arb[kill]
