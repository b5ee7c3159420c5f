; Grants by atomic operations: a request adds all that it asks for, learns what
; was granted before, and gives back what it did not get. No context waits
; for another, and no more is ever granted than the limit: a later context sees at
; least what earlier ones got. While a surplus is on its way back, a request may
; get less than there is.

#ifndef GRANT_UC
#define GRANT_UC

#include "atomic.uc"
#include "rate.uc"

.sig shared

; For how long a microengine takes it that the window is the one that it saw last:
; 2^QS_KNOWN_LOG steps of 16 cycles. Less than a window by far: a request that was
; added to the counter of another window must be taken back before the slow path
; zeroes that counter, or it would be missing there.
#ifndef QS_KNOWN_LOG
#define QS_KNOWN_LOG 14
#endif

; quick_start_seen(phase)
;   The window of `phase` is the current one.
#macro quick_start_seen(phase)
    alu[@qs_phase, --, B, phase]
    local_csr_rd[TIMESTAMP_LOW]
    immed[@qs_seen, 0]
#endm

; quick_start_grant(granted, requested, port_out)
;   granted <- the rate code that the request for `requested` gets, 0 for none.
#macro quick_start_grant(granted, requested, port_out)
.begin
    .reg counter want surplus left
    quick_start_state(counter, port_out)
    rate_units(want, requested)
    local_csr_rd[TIMESTAMP_LOW]
    immed[left, 0]
    alu[left, left, -, @qs_seen]
    alu_shf[--, --, B, left, >>QS_KNOWN_LOG]
    beq[look#]
    QS_SPACE[read, $share0, counter, QS_PHASE, 1], ctx_swap[kept]
    quick_start_seen($share0)

    ; The window that the microengine knows to be the current one.
look#:
    alu[counter, counter, +, @qs_phase]
    alu[$share4, --, B, want]
    alu[surplus, --, B, @qs_phase]
    QS_SPACE[test_and_add, $share4, counter, QS_GRANTED], sig_done[shared]
    alu[counter, counter, -, surplus]
    QS_SPACE[read, $share0, counter, QS_LIMIT, 2], sig_done[kept]
    ctx_arb[shared, kept]
    alu[counter, counter, +, surplus]
    quick_start_seen($share1)
    alu[--, surplus, -, $share1]
    bne[turned#]

    alu[left, --, B, $share0]
    alu[left, left, -, $share4]
    alu[surplus, --, B, want]
    rate_that_fits(granted, requested, want, left)
    alu[surplus, surplus, -, want]
    beq[all#]
    atomic_sub($share0, counter, QS_GRANTED, surplus, QS_SPACE, kept)
    ctx_arb[kept]
    br[all#]

turned#:
    ; Another window has begun: the request is taken back and made again there.
    atomic_sub($share0, counter, QS_GRANTED, want, QS_SPACE, kept)
    alu[counter, counter, -, surplus]
    ctx_arb[kept], br[look#]
all#:
.end
#endm

#endif
