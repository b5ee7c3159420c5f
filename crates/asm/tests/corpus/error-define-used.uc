; error unclosed-bracket 3

#define OPEN (1 + 2
immed[a0, OPEN]
immed[a1, OPEN]
ctx_arb[kill]
