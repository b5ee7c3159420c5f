; error not-constant 6
; error unknown-function 7
; error division-by-zero 8

; A counter without its first value, a slip in a function and a wrong sum are no texts.
#define_eval COUNT (COUNT + 1)
#define_eval SIZE log3(8)
#define_eval HALF (1 / 0)
ctx_arb[kill]
