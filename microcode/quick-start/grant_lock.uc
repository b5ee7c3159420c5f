; Grants under a lock: one context at a time reads what was granted, decides and
; writes.

#ifndef GRANT_UC
#define GRANT_UC

#include "lock.uc"
#include "rate.uc"

.sig shared

; quick_start_grant(granted, requested, port_out)
;   granted <- the rate code that the request for `requested` gets, 0 for none.
#macro quick_start_grant(granted, requested, port_out)
.begin
    .reg state counter want have left
    quick_start_state(state, port_out)
    rate_units(want, requested)

    ; A context far from its turn does not yet compete for the lock.
    hand_over_room(sequence)
    lock_take($share0, state, QS_LOCK, QS_SPACE, shared, rung)
locked#:
    QS_SPACE[read, $share0, state, QS_LIMIT, 5], ctx_swap[kept]
    alu[counter, state, +, $share1]
    alu[--, --, B, $share1]
    bne[second#], defer[1]
    alu[have, --, B, $share4]
    alu[have, --, B, $share2]
second#:
    alu[left, $share0, -, have]
    rate_that_fits(granted, requested, want, left)
    alu[$share0, have, +, want]
    QS_SPACE[write, $share0, counter, QS_GRANTED, 1], ctx_swap[kept]
    lock_release($share0, state, QS_LOCK, QS_SPACE, kept)
released#:
    ctx_arb[kept]
.end
#endm

#endif
