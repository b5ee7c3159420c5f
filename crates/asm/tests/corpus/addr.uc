; good
.reg x y $t @z
.sig s
.areg x 5
.breg y 6
.addr $t 7
.addr s 8
.reg_addr @z 20 B
immed[x, 1]
immed[y, 2]
immed[$t, 3]
immed[@z, 4]
ctx_arb[s]
ctx_arb[kill]
