; counters.uc: every context counts in the same few longwords with every atomic
; operation that counts, and keeps the old values that it was given.

#include "constant.uc"
#include "context_number.uc"

#define ROUNDS 64

.num_contexts 8

.reg $added
.reg read $before_incr $before_decr
.reg write $amount $log0 $log1 $log2
.xfer_order $log0 $log1 $log2
.sig both old done summed
.reg number

; hammer(unit, words, records)
;   Counts in four longwords of `unit` at byte address `words`; three old values
;   a round go to `records` in SRAM.
#macro hammer(unit, words, records)
.begin
    .reg base log round
    load_constant(base, words)
    load_constant(log, records)
    alu_shf[round, --, B, number, <<9]          ; 12 * ROUNDS = 512 + 256 bytes a context
    alu[log, log, +, round]
    alu_shf[round, --, B, number, <<8]
    alu[log, log, +, round]
    immed[round, ROUNDS]
again#:
    immed[$added, 3]
    unit[test_and_add, $added, base, 0], ctx_swap[both]
    unit[test_and_incr, $before_incr, base, 4], ctx_swap[old]
    unit[test_and_decr, $before_decr, base, 8], ctx_swap[old]
    immed[$amount, 5]
    unit[add, $amount, base, 12], sig_done[summed]
    unit[incr, --, base, 12]
    unit[incr, --, base, 12]
    unit[decr, --, base, 12]
    alu[$log0, --, B, $added]
    alu[$log1, --, B, $before_incr]
    alu[$log2, --, B, $before_decr]
    sram[write, $log0, log, 0, 3], ctx_swap[done]
    ctx_arb[summed]
    alu[log, log, +, 12]
    alu[round, round, -, 1]
    bne[again#]
.end
#endm

    context_number(number)
    hammer(scratch, COUNTERS_SCRATCH, OLD_SCRATCH)
    hammer(sram, COUNTERS_SRAM, OLD_SRAM)
    ctx_arb[kill]
