; good
msf[read, $0, RX_THREAD_FREELIST_0, b1, 1], ctx_swap[s1]
ctx_arb[kill]
