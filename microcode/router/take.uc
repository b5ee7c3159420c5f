; Takes messages off a scratch ring; the contexts of one microengine take turns.

#ifndef TAKE_UC
#define TAKE_UC

#include "rest.uc"

; Steps of 16 cycles between two polls of an empty ring; the initial number where
; REST_LONGEST lets rests grow.
#ifndef TAKE_GAP
#define TAKE_GAP 2
#endif

; ring_take($message, ring, count, turn, pass, got, @busy, slow#)
;   Takes `count` longwords off `ring` into $message and the registers after it, when
;   it is this context's turn. While messages arrive, it passes the turn as soon as
;   the command is issued; $message may then be 0, which means that the ring was empty
;   and the caller has to clear @busy (initially 0). While @busy is 0, it branches to
;   slow#, the place of ring_wait. `pass` is the value written to SAME_ME_SIGNAL.
;   A stage that defines TAKES_CORE first checks for a packet from the general-purpose
;   core; if one is waiting, it branches to its label core#, still holding the turn.
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
;   Keeps the turn and polls until a message arrives, then passes the turn and
;   branches to taken#, after ring_take.
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
