; good
load_addr[a1, here#]
here#: load_addr[b2, here#]
ctx_arb[kill]
