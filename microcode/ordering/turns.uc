; Turns that rotate through all contexts of a stage: from context to context, and from the
; last context of a microengine to the first one of the next.
;
; The includer defines STAGE_FIRST and STAGE_COUNT, the stage's microengines, and
; CONTEXTS. A turn is a volatile signal that has the same number, set by .addr, in all
; of them.

#ifndef ORDERING_TURNS_UC
#define ORDERING_TURNS_UC

#include "turn.uc"
#include "arrangement.uc"

; The microengine after this one: bit 4 of its number is the cluster.
#define_eval NEXT_ME (ME_INDEX + 1)
#if (NEXT_ME == STAGE_FIRST + STAGE_COUNT)
#define_eval NEXT_ME STAGE_FIRST
#endif
#ifdef __IXP28XX
#if (NEXT_ME > 7)
#define_eval NEXT_ME (NEXT_ME + 8)
#endif
#else
#if (NEXT_ME > 3)
#define_eval NEXT_ME (NEXT_ME + 12)
#endif
#endif

; Contexts of a microengine that come after this one.
.reg contexts_after

; turns_set_up(context)
#macro turns_set_up(context)
    alu[contexts_after, (CONTEXTS - 1), -, context]
#endm

; turns_pass(turn)
;   Gives the turn to the next context of all.
#macro turns_pass(turn)
    alu[--, --, B, contexts_after]
    beq[across#]
    turn_pass(turn)
    br[passed#]
across#:
#if (STAGE_COUNT == 1)
    turn_start(turn)
#else
    cap[fast_wr, ((NEXT_ME << 7) | &turn), INTERTHREAD_SIGNAL]
    .set_sig turn
#endif
passed#:
#endm

#endif
