; error syntax 10
; error syntax 11
; error syntax 12
; error syntax 14

#macro two(a, b)
    immed[a, b]
#endm
two(a0, 1)
two a0, 1
start#: two a0 1
two a0
#define GIVEN (a1, 2)
#define NAME two
two GIVEN
NAME a0, 1
br[start#]
