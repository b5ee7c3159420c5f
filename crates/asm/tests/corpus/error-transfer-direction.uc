; error transfer-direction 3
.reg write $x
sram[read, $x, a0, 0, 1], ctx_swap[s1]
