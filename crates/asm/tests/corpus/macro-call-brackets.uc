; good
; warning unexpected-bracket 11
; warning unexpected-bracket 12
; warning unexpected-bracket 13
; warning unexpected-bracket 15

#macro two(a, b)
    immed[a, b]
#endm
two(a0, 1)
two(a1, 2]
two[a2, 3)
#define CALL two(a3, 4]
CALL
#define WITH(n) two[a4, n)
WITH(5)
end#: ctx_arb[kill]
