; error transfer-group-too-short 3
.reg $x $y
sram[read, $x, a0, 0, 2], ctx_swap[s1]
alu[a0, --, B, $y]
