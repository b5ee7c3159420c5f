; error syntax 17
; error syntax 18
; error syntax 19
; error syntax 20
; error syntax 21
; error syntax 22
; error syntax 23
; error syntax 24
; error syntax 25
; error syntax 26
; error syntax 27
; error syntax 28
; error syntax 29

; What a line that assigns would be here.
.reg a b $x[2]
a = b + 1;
a=b+1
a = 7
a = b
a = ~b
a = b & 15
a = b << 3
a = b + 1000
a += b
a++
$x[1] = b
a = b * 2
a = b + 1 + 2
alu[a, --, B, b]
ctx_arb[kill]
