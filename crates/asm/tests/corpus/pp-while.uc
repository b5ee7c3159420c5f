; good
#define_eval I 0
#while (I < 3)
immed[a0, I]
#define_eval I (I + 1)
#endloop
ctx_arb[kill]
