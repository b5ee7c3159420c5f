; good

; A value that names what no define knows stays the text that it is.
.reg x $t
#define_eval R (x)
#define_eval OUT ($t)
#define_eval SUM (x)
#define_eval LIST x, (2 + 1)
#define LABEL end#
#define_eval TO (LABEL)
immed[R, 1]
alu[OUT, --, B, SUM]
alu[--, R, -, 1]
br=byte[R, 0, 3, end#]
end#: ctx_arb[kill]
