; good
.reg a1x @shared $s $$d n$next
immed[a1x, 1]
immed[@shared, 2]
immed[$s, 3]
immed[$$d, 4]
alu[a1x, a1x, +, n$next]
ctx_arb[kill]
