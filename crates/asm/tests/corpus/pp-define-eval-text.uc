; good

; A value that names what no define knows stays the text that it is.
.reg x $t
.import_var FAR
#define_eval R (x)
#define_eval OUT ($t)
#define_eval SUM (x)
#define_eval LIST x, (2 + 1)
#define LABEL end#
#define_eval TO (LABEL)
#define_eval NONE (--)
#define_eval WORD *l$index0[1 + 1]
#define_eval THERE (FAR >> 16)
immed[R, 1]
alu[OUT, NONE, B, SUM]
alu[--, R, -, 1]
alu[WORD, --, B, R]
immed[R, THERE]
br=byte[R, 0, 3, end#]
end#: ctx_arb[kill]
