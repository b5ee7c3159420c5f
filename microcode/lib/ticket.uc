; Fair locks in scratch: first come, first served.
;
; A lock is two longwords, both 0 at the beginning: the number that is given out
; next, and the number whose turn it is.

#ifndef TICKET_UC
#define TICKET_UC

#include "timer.uc"

; Numbers before one's own for which it is worth to sleep longer still.
#ifndef TICKET_FAR
#define TICKET_FAR 16
#endif

; ticket_take(number, $given, $serving, base, took, seen, rung)
;   Waits for the lock at `base`: number <- the number that it was given. Who comes
;   next looks without a pause; others sleep, 128 cycles for each that comes before
;   the next. `took`, a pair, `seen` and `rung` are signals that nothing else uses.
#macro ticket_take(number, given, serving, base, took, seen, rung)
.begin
    .reg before
    scratch[test_and_incr, given, base, 0], ctx_swap[took]
    alu[number, --, B, given]
look#:
    scratch[read, serving, base, 4, 1], ctx_swap[seen]
    alu[before, number, -, serving]
    beq[mine#]
    alu[before, before, -, 1]
    beq[look#]
    alu[--, before, -, TICKET_FAR]
    blo[near#]
    immed[before, TICKET_FAR]
near#:
    alu_shf[before, --, B, before, <<3]
    timer_wait(before, rung)
    br[look#]
mine#:
.end
#endm

; ticket_pass(number, $next, base, done)
;   Gives the lock to the next number. What it protects must have been written: a
;   write is complete when its signal is raised. Raises `done` when $next may be
;   used again.
#macro ticket_pass(number, next, base, done)
    alu[next, number, +, 1]
    scratch[write, next, base, 4, 1], sig_done[done]
#endm

#endif
