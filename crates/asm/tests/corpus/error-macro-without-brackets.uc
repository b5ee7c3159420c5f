; error syntax 9
; error syntax 10
; error syntax 11

#macro two(a, b)
    immed[a, b]
#endm
two(a0, 1)
two a0, 1
start#: two a0 1
two a0
ctx_arb[kill]
