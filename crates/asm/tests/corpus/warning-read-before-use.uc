; good
; warning read-before-write 8
; warning read-before-write 13

; The value is needed by the `.use`, not by what sets a part of it.
.reg x y
immed_w0[x, 1]
.use x
immed[x, 2]
alu[$0, --, B, x]
immed_w1[y, 1]
.begin
.use y
.end
ctx_arb[kill]
