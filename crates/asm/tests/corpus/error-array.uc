; error array-bounds 3
.reg w[2]
immed[w[2], 0]
