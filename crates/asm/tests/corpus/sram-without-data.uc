; good
sram[incr, --, a1, 4]
sram[decr, --, a1, 4]
sram[fast_journal, --, a1, 4]
sram[enqueue, --, a1, 4]
sram[enqueue_tail, --, a1, 4]
ctx_arb[kill]
