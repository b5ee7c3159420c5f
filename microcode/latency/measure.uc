; Measures one operation on an idle chip with PROFILE_COUNT, which counts cycles.
;
;   measure_begin()
;   again#:
;       measure_before()
;       <the operation>, ctx_swap[...]     ; one instruction, then sleep
;       measure_after()
;       bne[again#]
;   measure_store(RESULT)
;
; An operation is repeated sixteen times, half of them on each phase of the bus
; clock, whose period is two cycles. The measured count includes a known overhead:
; the two instructions from the read of the counter to the command, and the time
; from the signal to the context's first instruction.
;
; Three longwords are stored: the sum, the minimum and the maximum of the sixteen.

#ifndef MEASURE_UC
#define MEASURE_UC

#define REPEATS 16
; Iterations of a five-cycle loop between repetitions.
#define PAUSE 64
; Scratch address of the results, beyond the rings that the measurements use.
#define RESULTS 0x2000

.reg total least most left before after phase where
.reg write $total $least $most
.xfer_order $total $least $most
.sig stored

#macro measure_begin()
    immed[total, 0]
    immed[least, 0xffff]
    immed[most, 0]
    immed[left, REPEATS]
#endm

; Gives commands in flight time to complete, and an open DRAM row time to close. A
; taken branch costs an odd number of cycles more than one that is not taken, so
; every second repetition begins on the other phase.
#macro measure_before()
    immed[phase, PAUSE]
pause#:
    alu[phase, phase, -, 1]
    bne[pause#]
    local_csr_rd[PROFILE_COUNT]
    immed[phase, 0]
    alu[phase, phase, XOR, left]
    br_bset[phase, 0, aligned#]
aligned#:
    nop
    local_csr_rd[PROFILE_COUNT]
    immed[before, 0]
#endm

; Leaves the condition codes set by the number of repetitions remaining.
#macro measure_after()
    local_csr_rd[PROFILE_COUNT]
    immed[after, 0]
    alu[after, after, -, before]
    ld_field_w_clr[after, 0011, after]
    alu[total, total, +, after]
    alu[--, after, -, least]
    bhs[not_least#]
    alu[least, --, B, after]
not_least#:
    alu[--, most, -, after]
    bhs[not_most#]
    alu[most, --, B, after]
not_most#:
    alu[left, left, -, 1]
#endm

; Stores result `number`.
#macro measure_store(number)
    alu[$total, --, B, total]
    alu[$least, --, B, least]
    alu[$most, --, B, most]
    immed[where, (RESULTS + (number) * 12)]
    scratch[write, $total, where, 0, 3], ctx_swap[stored]
#endm

#endif
