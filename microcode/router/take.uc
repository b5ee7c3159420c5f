; Taking messages off a scratch ring, contexts of one microengine in turn.

#ifndef TAKE_UC
#define TAKE_UC

; Steps of 16 cycles between two looks at an empty ring.
#define TAKE_GAP 2

; ring_take($message, ring, count, turn, pass, got, rung, @busy)
;   Takes `count` longwords off `ring` into $message and its followers, when it
;   is this context's turn. While messages come, the turn is passed on as soon
;   as the command is on its way, and $message may be 0: nothing was there.
;   While none come, the context keeps its turn and looks again and again.
;   `pass` is what SAME_ME_SIGNAL is to get; @busy, 0 at first, tells the
;   contexts which of the two it is.
#macro ring_take(message, ring, count, turn, pass, got, rung, busy)
.begin
    ctx_arb[turn]
    alu[--, --, B, busy]
    bne[hasty#]
    br[look#]
idle#:
    timer_wait(TAKE_GAP, rung)
look#:
    scratch[get, message, ring, 0, count], ctx_swap[got]
    alu[--, --, B, message]
    beq[idle#]
    immed[busy, 1]
    local_csr_wr[SAME_ME_SIGNAL, pass]
    .set_sig turn
    br[taken#]
hasty#:
    scratch[get, message, ring, 0, count], sig_done[got]
    local_csr_wr[SAME_ME_SIGNAL, pass]
    .set_sig turn
    ctx_arb[got]
    alu[--, --, B, message]
    bne[taken#]
    immed[busy, 0]
taken#:
.end
#endm

#endif
