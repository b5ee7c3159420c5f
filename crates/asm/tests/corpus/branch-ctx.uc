; good
top#: br=ctx[7, top#]
br!=ctx[0, top#]
ctx_arb[kill]
