; good
sram[read, $0, a1, 4, 2], ignore_data_error, ctx_swap[s1], defer[2]
nop
nop
ctx_arb[kill]
