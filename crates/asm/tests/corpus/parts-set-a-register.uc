; good
; warning read-before-write 15
; warning read-before-write 19

; Writes of parts set a register together; what is read before all are set is not.
.reg x y half loop
immed_w0[x, 1]
immed_w1[x, 2]
alu[$0, --, B, x]
ld_field[y, 0011, x]
ld_field[y, 0100, x]
immed_b3[y, 7]
alu[$1, --, B, y]
immed_w1[half, 1]
alu[$2, --, B, half]
again#:
br=byte[x, 0, 3, end#]
immed_w0[loop, 1]
alu[$3, --, B, loop]
immed_w1[loop, 2]
br[again#]
end#:
ctx_arb[kill]
