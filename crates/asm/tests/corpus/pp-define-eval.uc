; good
#define_eval N (1 << 4)
#define_eval N (N + 1)
immed[a0, N]
ctx_arb[kill]
