; How long contexts that find no work rest.

#ifndef REST_UC
#define REST_UC

#include "timer.uc"

; Steps of 16 cycles from which a rest doubles while nothing comes, at most to so many.
; Work sets it back, so that a rest is about as long as nothing has come for and what
; comes waits no longer than that in a stage. With 2 no rest grows.
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
;   Rests for as many steps as the register `rest` says and makes the next rest longer.
;   `rung` is a signal that nothing else uses.
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
