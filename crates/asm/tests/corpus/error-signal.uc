; error undefined-signal 2
ctx_arb[x]
