; good
#macro set(r, v)
immed[r, v]
#endm
#macro set(r)
immed[r, 0]
#endm
set(a0, 5)
set(b0)
ctx_arb[kill]
