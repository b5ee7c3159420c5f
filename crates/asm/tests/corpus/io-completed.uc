; good
.reg $x
.sig s
sram[read, $x, a0, 0, 1], sig_done[s]
nop
.io_completed s
alu[a1, --, B, $x]
ctx_arb[kill]
