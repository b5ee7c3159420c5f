; error two-completions 2
sram[read, $0, a0, 0, 1], ctx_swap[s1], sig_done[s2]
