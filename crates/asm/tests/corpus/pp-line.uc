; good
#line 100 "other.uc"
nop
ctx_arb[kill]
