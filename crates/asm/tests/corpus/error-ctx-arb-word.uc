; error undefined-signal 2
    ctx_arb[kil]
    ctx_arb[kill]
