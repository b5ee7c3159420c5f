; error command-without-signal 3
.sig s
    cap[fast_wr, 3, XSCALE_INT_A], sig_done[s]
    ctx_arb[kill]
