; signals.uc: a turn rotates through all contexts of all microengines by
; INTERTHREAD_SIGNAL. The next place in the log is a plain longword of SRAM, read
; and written back: only the turn keeps it right.

#include "constant.uc"
#include "context_number.uc"

#define ROUNDS 4

.num_contexts 8

.reg read $before
.reg write $after $who
.sig volatile turn
.addr turn 3                            ; the same in all microengines
.sig done
.reg number log position round place next

; The second cluster's numbers begin at 16: after four microengines on the
; IXP2400, after eight on the IXP2800.
#ifdef __IXP2800
#define CLUSTER 8
#else
#define CLUSTER 4
#endif
#define_eval NEXT_INDEX ((ME_INDEX + 1) % ME_COUNT)
#if (NEXT_INDEX < CLUSTER)
#define_eval NEXT_NUMBER NEXT_INDEX
#else
#define_eval NEXT_NUMBER (NEXT_INDEX - CLUSTER + 16)
#endif

    context_number(number)
    load_constant(log, LOG)
    load_constant(position, POSITION)
    immed[round, ROUNDS]

    ; The signal word: microengine 11..7, context 6..4, signal 3..0.
    alu[next, number, AND, 7]
    alu[next, next, +, 1]
    alu_shf[next, --, B, next, <<4]
    alu[next, next, +, &turn]
    immed[place, (ME_NUMBER << 7)]
    alu[next, next, +, place]
    br!=ctx[7, target#]
    immed[next, ((NEXT_NUMBER << 7) | &turn)]
target#:

#if (ME_INDEX == 0)
    br!=ctx[0, again#]
    cap[fast_wr, ((ME_NUMBER << 7) | &turn), INTERTHREAD_SIGNAL]
    .set_sig turn
#endif

again#:
    ctx_arb[turn]
    sram[read, $before, position, 0, 1], ctx_swap[done]
    alu_shf[place, --, B, $before, <<2]
    alu[$after, $before, +, 1]
    sram[write, $after, position, 0, 1], ctx_swap[done]
    alu[$who, --, B, number]
    sram[write, $who, log, place, 1], ctx_swap[done]
    alu[--, --, B, next]
    cap[fast_wr, ALU, INTERTHREAD_SIGNAL]
    .set_sig turn
    alu[round, round, -, 1]
    bne[again#]
    ctx_arb[kill]
