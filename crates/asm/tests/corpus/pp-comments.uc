; good
/* one
two */ nop ; three
nop // four
ctx_arb[kill]
