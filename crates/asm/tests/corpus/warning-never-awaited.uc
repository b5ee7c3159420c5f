; good
; warning signal-never-awaited 4
.sig s
sram[read, $0, a0, 0, 1], sig_done[s]
ctx_arb[kill]
