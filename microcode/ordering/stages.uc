; Packets from stage to stage.

#ifndef ORDERING_STAGES_UC
#define ORDERING_STAGES_UC

#include "timer.uc"

; Steps of 16 cycles between two polls of an empty ring: the time of two of the
; smallest packets. Dozens of contexts look, and scratch has other work too.
#ifndef RING_GAP
#define RING_GAP 12
#endif

; ring_take($first, ring, count, got, rung)
;   Takes `count` longwords off a scratch ring into $first and the registers after
;   it; waits as long as it is empty. The first longword of an entry is never 0.
#macro ring_take(first, ring, count, got, rung)
.begin
    .reg gap
    br[look#]
empty#:
    immed[gap, RING_GAP]
    timer_wait(gap, rung)
look#:
    scratch[get, first, ring, 0, count], ctx_swap[got]
    alu[--, --, B, first]
    beq[empty#]
.end
#endm

#endif
