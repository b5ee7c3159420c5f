; good
alu[--, a1, OR, 0]
dram[rbuf_rd, --, a1, b4, max_8], sig_done[s4], indirect_ref
ctx_arb[s4, s5]
alu[--, a1, OR, 0]
dram[tbuf_wr, --, a1, b4, max_8], sig_done[s4], indirect_ref
ctx_arb[s4, s5]
ctx_arb[kill]
