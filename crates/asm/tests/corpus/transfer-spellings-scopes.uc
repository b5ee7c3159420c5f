; good

; The nearest scope that has the register in either spelling counts.
.reg $x[2]
.addr $x[0] 4
.addr $x[1] 5
.begin
.reg $x1
.addr $x1 9
immed[$x[1], 1]
immed[$x[0], 2]
.end
immed[$x1, 3]
ctx_arb[kill]
