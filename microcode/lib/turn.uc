; Turns: contexts of one microengine act in order because a signal rotates through them.
;
; Each turn is one volatile signal of the same name in every context. Context 0
; starts it; a context that wants its turn waits for the signal, acts, and
; passes the turn to the next context. Every context takes and passes every
; turn exactly once a round, whatever it found to do.

#ifndef TURN_UC
#define TURN_UC

; turn_start(turn)
;   Gives context 0 the first turn. To be run once, by one context.
#macro turn_start(turn)
    local_csr_wr[SAME_ME_SIGNAL, (&turn << 3)]
    .set_sig turn
#endm

; turn_pass(turn)
;   Gives the turn to the context after this one (bit 7: "the next").
#macro turn_pass(turn)
    local_csr_wr[SAME_ME_SIGNAL, (0x80 | (&turn << 3))]
    .set_sig turn
#endm

#endif
