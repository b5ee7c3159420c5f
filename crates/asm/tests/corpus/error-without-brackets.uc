; error syntax 9
; error syntax 10
; error syntax 11
; error syntax 12
; error unknown-instruction 13
; error syntax 15

start#:
mov a0, 1
br start#
jmp start
alu a0, a1, +, a2
if (a0 == 1)
.if (a0 == 1)
.else if (a0 == 2)
.endif
ctx_arb[kill]
