; Taking messages off a scratch ring, contexts of one microengine in turn.

#ifndef TAKE_UC
#define TAKE_UC

#include "rest.uc"

; Steps of 16 cycles between two polls of an empty ring, the first ones where
; REST_LONGEST lets rests grow.
#ifndef TAKE_GAP
#define TAKE_GAP 2
#endif

; ring_take($message, ring, count, turn, pass, got, @busy, slow#)
;   Takes `count` longwords off `ring` into $message and its followers, when it
;   is this context's turn. While messages come, the turn is passed on as soon
;   as the command is on its way, and $message may be 0: nothing was there, and
;   the caller sets @busy, 0 at first, to 0. While none come, it goes to slow#,
;   where ring_wait stands. `pass` is what SAME_ME_SIGNAL is to get.
;   A stage that defines TAKES_CORE first looks whether a packet of the general-purpose
;   core waits, and goes to its label core# then, with the turn still its own.
#macro ring_take(message, ring, count, turn, pass, got, busy, slow)
    ctx_arb[turn]
#ifdef TAKES_CORE
    br_!inp_state[CORE_RING_STATUS, core#]
#endif
    alu[--, --, B, busy]
    beq[slow]
    scratch[get, message, ring, 0, count], sig_done[got]
    local_csr_wr[SAME_ME_SIGNAL, pass]
    .set_sig turn
    ctx_arb[got]
#endm

; ring_wait($message, ring, count, turn, pass, got, rung, @busy, taken#)
;   Keeps the turn and looks again and again until a message comes; then passes
;   the turn and goes to taken#, behind ring_take.
#macro ring_wait(message, ring, count, turn, pass, got, rung, busy, taken)
.begin
#if (REST_LONGEST > TAKE_GAP)
    .reg rest
    immed[rest, TAKE_GAP]
#endif
    br[look#]
idle#:
#if (REST_LONGEST > TAKE_GAP)
    rest_for(rest, rung)
#else
    timer_wait(TAKE_GAP, rung)
#endif
look#:
#ifdef TAKES_CORE
    br_!inp_state[CORE_RING_STATUS, core#]
#endif
    scratch[get, message, ring, 0, count], ctx_swap[got]
    alu[--, --, B, message]
    beq[idle#]
    immed[busy, 1]
    br[taken], defer[1]
    local_csr_wr[SAME_ME_SIGNAL, pass]
    .set_sig turn
.end
#endm

#endif
