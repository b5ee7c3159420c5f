; error syntax 11
; error syntax 12
; error syntax 13
; error syntax 14
; error syntax 15
; error syntax 16
; error syntax 17
; error syntax 18

start#:
immed (a0, 1)
immed(a0, 1)
alu a0 a1 + a2
alu a0, a1 + a2
nop a0
br start#, defer[1]
br=ctx 1, start#
ctx_arb s1, s2
nop
ctx_arb[kill]
