; error signal-odd 2
dram[read, $$0, a0, 0, 1], sig_done[s3]
