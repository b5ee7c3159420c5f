; good
#define N 3
#undef N
#ifndef N
immed[a0, 7]
#endif
ctx_arb[kill]
