; good
.num_contexts 8
immed[a15, 1]
ctx_arb[kill]
