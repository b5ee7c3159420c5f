; good
.num_contexts 4
immed[a31, 1]
immed[b31, 2]
sram[read, $31, a31, 0, 1], ctx_swap[s1]
ctx_arb[kill]
