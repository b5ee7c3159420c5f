; error unexpected-bracket 5

; The bracket belongs to no line; the one before has left one open.
#define A (1
nop)
ctx_arb[kill]
