; good
immed_b0[a1, 1]
immed_b1[b1, 2]
immed_b2[a1, 3]
immed_b3[b1, 255]
immed_w0[a1, 0x1234]
immed_w1[b1, 0x5678]
ctx_arb[kill]
