; good
sram[rd_qdesc_head, $0, a1, 4, 2], ctx_swap[s1]
sram[rd_qdesc_tail, $0, a1, 4, 2], ctx_swap[s1]
sram[rd_qdesc_other, --, a1, 4]
sram[wr_qdesc, --, a1, 4]
sram[wr_qdesc_count, --, a1, 4]
ctx_arb[kill]
