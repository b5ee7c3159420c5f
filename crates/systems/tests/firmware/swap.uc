; swap.uc: every context has a token, and so has every slot; tokens change hands
; through swap. TORN 1 makes the exchange of a read and a write instead.

#include "constant.uc"
#include "context_number.uc"

; Odd, so that contexts in step do not end with what they began with.
#define ROUNDS 31

.num_contexts 8

.reg $token
.reg write $kept
.sig done
#if (!TORN)
.sig both
#endif
.reg number token

; circulate(unit, slots, records)
;   Exchanges the token ROUNDS times with one of sixteen slots of `unit`; what
;   is left in hand goes to `records` in SRAM.
#macro circulate(unit, slots, records)
.begin
    .reg base log round slot place
    load_constant(base, slots)
    load_constant(log, records)
    alu[token, number, +, 1]
    alu[slot, number, AND, 0xf]
    immed[round, ROUNDS]
again#:
    alu_shf[place, --, B, slot, <<2]
    alu[$token, --, B, token]
#if (TORN)
    unit[read, $token, base, place, 1], ctx_swap[done]
    unit[write, $token, base, place, 1], ctx_swap[done]
#else
    unit[swap, $token, base, place], ctx_swap[both]
#endif
    alu[token, --, B, $token]
    alu[slot, slot, +, 5]
    alu[slot, slot, AND, 0xf]
    alu[round, round, -, 1]
    bne[again#]
    alu_shf[place, --, B, number, <<2]
    alu[$kept, --, B, token]
    sram[write, $kept, log, place, 1], ctx_swap[done]
.end
#endm

    context_number(number)
    circulate(scratch, SLOTS_SCRATCH, KEPT_SCRATCH)
    circulate(sram, SLOTS_SRAM, KEPT_SRAM)
    ctx_arb[kill]
