; good
; warning unused-signal 7
#pragma warning(push)
#pragma warning(disable:unused-signal)
.sig x
#pragma warning(pop)
.sig y
nop
ctx_arb[kill]
