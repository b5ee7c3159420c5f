; good
dram[read, $$0, a1, 8, 2], sig_done[s2]
ctx_arb[s2, s3]
dram[write, $$0, a1, 8, 2], sig_done[s2]
ctx_arb[s2, s3]
ctx_arb[kill]
