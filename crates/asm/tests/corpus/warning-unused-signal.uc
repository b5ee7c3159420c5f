; good
; warning unused-signal 3
.sig x
ctx_arb[kill]
