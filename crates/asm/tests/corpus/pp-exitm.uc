; good
#macro set(r, v)
#if (v == 0)
immed[r, 1]
#exitm
#endif
immed[r, v]
#endm
set(a0, 0)
set(a1, 2)
ctx_arb[kill]
