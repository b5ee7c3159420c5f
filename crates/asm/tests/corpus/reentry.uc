; good
jump[a0, table#]
table#: nop
.reentry
ctx_arb[kill]
