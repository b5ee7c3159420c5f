; good
; first-constant 1
.import_var V
#if (log2(9, 1) == 4)
immed[a0, 1]
#else
immed[a0, 2]
#endif
immed[a1, V]
ctx_arb[kill]
