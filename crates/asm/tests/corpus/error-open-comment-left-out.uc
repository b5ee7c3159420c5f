; error unterminated-comment 4

#if 0
    /* nothing ends this
#else
    nop
#endif
ctx_arb[kill]
