; good
#macro set(n)
immed[a/**/n, n]
#endm
set(3)
ctx_arb[kill]
