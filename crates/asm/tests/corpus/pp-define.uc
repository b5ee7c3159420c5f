; good
#define N 3
#define ADD(a, b) (a + b)
immed[a0, N]
immed[a1, ADD(N, 4)]
ctx_arb[kill]
