; Locks in shared memory: bit 0 of a longword in scratch or SRAM is set while
; somebody has it.

#ifndef LOCK_UC
#define LOCK_UC

; lock_take($bit, base, offset, space, done)
;   Waits for the lock at base + offset in `space`, scratch or sram: tries again
;   and again, and other contexts run meanwhile. `done` is a pair of signals.
#macro lock_take(bit, base, offset, space, done)
    immed[bit, 1]
try#:
    space[test_and_set, bit, base, offset], ctx_swap[done]
    br_bset[bit, 0, try#]
#endm

; lock_release(base, offset, space)
;   Gives the lock back without waiting and without a transfer register: the
;   longword of a lock that is held is 1, and one less is 0. What was written under
;   the lock must be complete.
#macro lock_release(base, offset, space)
    space[decr, --, base, offset]
#endm

; lock_release($zero, base, offset, space, done)
;   Gives the lock back and waits until the unit has the command; `$zero` may be
;   any transfer register.
#macro lock_release(zero, base, offset, space, done)
    immed[zero, 0]
    space[write, zero, base, offset, 1], ctx_swap[done]
#endm

#endif
