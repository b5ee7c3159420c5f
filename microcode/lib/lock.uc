; Locks in shared memory: bit 0 of a longword in scratch or SRAM is set while
; a context has it.

#ifndef LOCK_UC
#define LOCK_UC

#include "timer.uc"

; Steps of 16 cycles between two tries. Contexts that try without a pause keep the
; unit busy that the holder needs.
#ifndef LOCK_GAP
#define LOCK_GAP 18
#endif

; lock_take($bit, base, offset, space, done, rung)
;   Waits for the lock at base + offset in `space`, scratch or sram: tries again
;   and again, and other contexts run meanwhile. `done` and `rung` are signals
;   that nothing else uses; `done` is a pair.
#macro lock_take(bit, base, offset, space, done, rung)
    br[try#]
again#:
    timer_wait(LOCK_GAP, rung)
try#:
    immed[bit, 1]
    space[test_and_set, bit, base, offset], ctx_swap[done]
    br_bset[bit, 0, again#]
#endm

; lock_release($zero, base, offset, space, done)
;   Gives the lock back. What it protects must have been written: a write is
;   complete when its signal is raised. Raises `done` when $zero may be used
;   again.
#macro lock_release(zero, base, offset, space, done)
    immed[zero, 0]
    space[write, zero, base, offset, 1], sig_done[done]
#endm

#endif
