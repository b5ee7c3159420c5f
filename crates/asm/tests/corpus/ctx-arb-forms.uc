; good
.sig x y
.set_sig x y
ctx_arb[x, y], all
ctx_arb[x, y], any
ctx_arb[voluntary]
ctx_arb[voluntary, x], any
ctx_arb[--]
ctx_arb[bpt]
top#: ctx_arb[x], br[top#], defer[1]
nop
