; How long contexts rest when they find no work.

#ifndef REST_UC
#define REST_UC

#include "timer.uc"

; Maximum rest in steps of 16 cycles. A rest doubles up to this while nothing arrives,
; and work resets it, so a rest is about as long as the idle time before it and delays
; an arrival in a stage by no more than that. With 2, rests do not grow.
#ifndef REST_LONGEST
#define REST_LONGEST 2
#endif
#if (REST_LONGEST < 2)
#error "REST_LONGEST: a rest has two steps of 16 cycles at least"
#endif
#if (REST_LONGEST > 16384)
#error "REST_LONGEST: at most 16384 steps, since a timer compares 16 bits"
#endif

; rest_for(rest, rung)
;   Rests for the number of steps in the register `rest`, then doubles `rest`, up to
;   REST_LONGEST. `rung` is a signal not otherwise in use.
#macro rest_for(rest, rung)
.begin
    .reg next longest
    timer_wait(rest, rung)
    alu[next, --, B, rest]
    alu_shf[next, --, B, next, <<1]
    immed[longest, REST_LONGEST]
    alu[--, longest, -, next]
    bhs[longer#]
    alu[next, --, B, longest]
longer#:
    alu[rest, --, B, next]
.end
#endm

#endif
