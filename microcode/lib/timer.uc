; Waiting for time to pass.

#ifndef TIMER_UC
#define TIMER_UC

; timer_wait(ticks, rung)
;   Sleeps for `ticks` (2-255) steps of the timestamp, 16 cycles each. `rung` is
;   a signal that nothing else uses.
;
;   The count is written before the signal. Either write sets the timer, and with the
;   signal first it would be set to the count of the last wait for a moment. Who
;   waits again within the very step in which he was woken would be woken at once, and
;   again when his time has come. Fewer than two steps could be over between the two
;   writes.
#macro timer_wait(ticks, rung)
#if (isnum(ticks))
#if (ticks < 2)
#error "timer_wait: two steps at least, since one may be over before the timer is set"
#endif
#endif
.begin
    .reg then
    local_csr_rd[TIMESTAMP_LOW]
    immed[then, 0]
    alu[then, then, +, ticks]
    local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, then]
    local_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &rung]
    .set_sig rung
    ctx_arb[rung]
.end
#endm

#endif
