; good
#macro spin()
here#: br_bset[a0, 1, here#]
#endm
spin()
spin()
ctx_arb[kill]
