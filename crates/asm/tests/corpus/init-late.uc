; good

; First values may name labels, registers and signals, whose numbers come last.
.reg x y z
.sig volatile s
.addr s 3
.init x start#
.init y (&s + 8)
.init_ctx 2 z ((here# << 8) | &s)
.init a9 -1
start#:
alu[x, x, +, y]
here#:
alu[--, x, -, z]
ctx_arb[s]
br[start#]
