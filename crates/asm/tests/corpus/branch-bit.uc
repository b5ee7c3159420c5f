; good
top#: br_bset[a1, 0, top#]
br_bclr[b1, 31, top#], defer[1]
nop
br_bset[$3, 7, top#]
ctx_arb[kill]
