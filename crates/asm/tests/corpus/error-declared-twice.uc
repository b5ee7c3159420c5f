; error declared-twice 3
.reg x
.sig x
immed[x, 0]
