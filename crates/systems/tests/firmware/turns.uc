; turns.uc: a turn rotates through the contexts of each microengine by
; SAME_ME_SIGNAL, whatever each has to do between its turns. A context writes
; its number at the next place when it has the turn.

#include "constant.uc"
#include "turn.uc"
#include "context_number.uc"

#define ROUNDS 8

.num_contexts 8

.reg read $pause
.reg write $who
.sig volatile turn
.sig done
.reg number log round busy place @position

    context_number(number)
    load_constant(log, LOG)
    immed[place, (ME_INDEX * ROUNDS * 8 * 4)]
    alu[log, log, +, place]
    immed[round, ROUNDS]
    br!=ctx[0, again#]
    immed[@position, 0]
    turn_start(turn)

again#:
    ; 1 to 4 reads, another number of them in every round.
    alu[busy, number, +, round]
    alu[busy, busy, AND, 3]
pause#:
    sram[read, $pause, log, 0, 1], ctx_swap[done]
    alu[busy, busy, -, 1]
    bpl[pause#]

    ctx_arb[turn]
    alu[place, --, B, @position]
    alu[@position, place, +, 1]
    alu_shf[place, --, B, place, <<2]
    turn_pass(turn)
    alu[$who, --, B, number]
    sram[write, $who, log, place, 1], ctx_swap[done]
    alu[round, round, -, 1]
    bne[again#]
    ctx_arb[kill]
