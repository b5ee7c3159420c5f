; good
immed[a1, 0]
immed[b1, 0xffff]
immed[$1, -1]
immed[a1, 0xffffff00]
immed[a1, 0x12, <<8]
immed[b1, 0x1234, <<16]
immed[a1, 0x123400]
ctx_arb[kill]
