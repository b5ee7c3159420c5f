; Waiting for time to pass.

#ifndef TIMER_UC
#define TIMER_UC

; timer_wait(ticks, rung)
;   Sleeps for `ticks` (1-255) steps of the timestamp, 16 cycles each. `rung` is
;   a signal that nothing else uses.
#macro timer_wait(ticks, rung)
.begin
    .reg then
    local_csr_rd[TIMESTAMP_LOW]
    immed[then, 0]
    alu[then, then, +, ticks]
    local_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &rung]
    local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, then]
    .set_sig rung
    ctx_arb[rung]
.end
#endm

#endif
