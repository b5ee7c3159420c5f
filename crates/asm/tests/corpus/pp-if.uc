; good
#define N 3
#if (N == 2)
immed[a0, 2]
#elif (N == 3)
immed[a0, 3]
#else
immed[a0, 4]
#endif
#ifdef N
nop
#endif
ctx_arb[kill]
