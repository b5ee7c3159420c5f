; good
load_addr[a1, back#]
rtn[a1], defer[1]
nop
back#: ctx_arb[kill]
