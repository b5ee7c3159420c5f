; good
; warning unexpected-bracket 9
; warning unexpected-bracket 10

#macro two(a, b)
    immed[a, b]
#endm
two(a0, 1)
two(a1, 2]
two[a2, 3)
end#: ctx_arb[kill]
