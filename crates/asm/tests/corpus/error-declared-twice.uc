; error declared-twice 3
.reg x
.reg x[2]
immed[x, 0]
