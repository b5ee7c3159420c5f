; good
#repeat 2
nop
#endloop
ctx_arb[kill]
