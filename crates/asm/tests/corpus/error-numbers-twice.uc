; error address-taken 10
; error address-taken 13
; warning declared-twice 7

.reg $x v @w
.addr $x 1
.addr $x 1
.sig s
.areg v 3
.breg v 3
.areg @w 64
.addr s 2
.addr s 3
immed[$x, 1]
immed[v, 1]
immed[@w, 1]
.set_sig s
ctx_arb[s]
ctx_arb[kill]
