; good
    alu[--, --, B, 1]
    cap[fast_wr, 3, XSCALE_INT_A], indirect_ref
    alu[--, --, B, 1]
    cap[fast_wr, ALU, XSCALE_INT_A], indirect_ref
    ctx_arb[kill]
