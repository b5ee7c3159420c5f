; good
.import_var BASE SIZE
immed[a0, (BASE & 0xffff)]
immed_w1[a0, (BASE >> 16)]
immed[a1, SIZE]
immed_w0[a2, BASE]
immed_w1[a2, BASE]
immed_b1[a3, SIZE]
immed[a4, BASE, <<16]
ctx_arb[kill]
