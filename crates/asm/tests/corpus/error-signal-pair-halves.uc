; error signal-kinds 8
; error signal-odd 10
; error array-bounds 11

; One signal has no second one; a command names a pair by its first.
.sig one two
.reg $x $$x a
sram[read, $x, a0, 0, 1], sig_done[one]
ctx_arb[one[1]]
dram[read, $$x, a0, 0, 1], sig_done[two[1]]
ctx_arb[two[2]]
ctx_arb[kill]
