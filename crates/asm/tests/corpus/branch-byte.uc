; good
top#: br=byte[a1, 2, 69, top#]
br!=byte[b1, 0, 255, top#], defer[1]
nop
ctx_arb[kill]
