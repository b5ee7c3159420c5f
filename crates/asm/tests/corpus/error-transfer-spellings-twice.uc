; error declared-twice 8
; error declared-twice 10

; Both spellings of one transfer register cannot be declared in one scope; in two they hide
; each other.
.sig s
.reg $x[2]
.reg $x1
.reg $$y0
.reg $$y[2]
.begin
.reg $x1
immed[$x[1], 1]
immed[$x0, 2]
.end
ctx_arb[kill]
