; good
; warning unmatched-directive 4
#pragma warning(disable:unused-register)
#pragma warning(pop)
.reg unused
    ctx_arb[kill]
