; good
#define WORDS 4
.assert (WORDS <= 8) "too long"
nop
ctx_arb[kill]
