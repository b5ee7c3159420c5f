; good
#for R [a0, b1, $2]
immed[R, 9]
#endloop
ctx_arb[kill]
