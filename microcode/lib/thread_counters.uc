; Counters for the slow path that each context keeps for itself: a context writes
; only its own, so nothing is shared, locked or read back.
;
; A context's counters stand in its local memory, as longwords 0 to 4 of a record
; of 32 bytes; the caller adds to them there and writes them to the record's
; address in shared memory. There is a record for each of THREAD_GROUPS groups,
; which the includer defines, at most 6.
;
; ACTIVE_LM_ADDR_1 is set for good to the context's local memory, whose first
; 24 bytes, and longword 8 with more than one group, are used here.

#ifndef THREAD_COUNTERS_UC
#define THREAD_COUNTERS_UC

#include "constant.uc"
#include "context_memory.uc"

; Where the address of a record in shared memory stands in it.
#define THREAD_RECORD_ADDRESS 5
#define THREAD_RECORD_SHIFT   5

; With one group its record is the beginning of the context's local memory;
; longword 8 there is the place of the first record otherwise.
#if (THREAD_GROUPS == 1)
#define THREAD_COUNTER *l$index1
#else
#define THREAD_COUNTER *l$index0
#define THREAD_RECORDS      8
#define THREAD_RECORDS_BASE 0x400
#endif

; thread_number(thread)
;   thread <- eight times the microengine's place among all, counted from 0, and the
;   context. A microengine's number has its cluster in bit 4.
#macro thread_number(thread)
.begin
    .reg who
    local_csr_rd[ACTIVE_CTX_STS]
    immed[who, 0]
#ifdef __IXP28XX
    alu[thread, who, AND, 0x3f]
    alu[who, who, AND, 0x80]
    alu_shf[thread, thread, OR, who, >>1]
#else
    alu[thread, who, AND, 0x1f]
    alu[who, who, AND, 0x80]
    alu_shf[thread, thread, OR, who, >>2]
#endif
.end
#endm

; thread_counters_set_up(memory, shift)
;   Zeroes the context's counters in its local memory. In shared memory those of
;   group g are at memory + (thread * THREAD_GROUPS + g << shift). To be run once by
;   each context.
#macro thread_counters_set_up(memory, shift)
.begin
    .reg thread address place
    context_memory(place)
    local_csr_wr[ACTIVE_LM_ADDR_1, place]
    thread_number(thread)
    load_constant(address, memory)
    alu_shf[thread, --, B, thread, <<shift]
#define_eval N 0
#while (N < THREAD_GROUPS)
    alu[address, address, +, thread]
#define_eval N (N + 1)
#endloop
#if (THREAD_GROUPS != 1)
    alu_shf[thread, 7, AND, place, >>CONTEXT_MEMORY_SHIFT]
    alu_shf[thread, --, B, thread, <<THREAD_RECORD_SHIFT]
    immed[place, THREAD_RECORDS_BASE]
#define_eval N 0
#while (N < THREAD_GROUPS)
    alu[place, place, +, thread]
#define_eval N (N + 1)
#endloop
    alu[*l$index1[THREAD_RECORDS], --, B, place]
#endif
#define_eval N 0
#while (N < THREAD_GROUPS)
#if (THREAD_GROUPS != 1)
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    alu[place, place, +, (1 << THREAD_RECORD_SHIFT)]
    nop
    nop
#endif
    immed[THREAD_COUNTER[0], 0]
    immed[THREAD_COUNTER[1], 0]
    immed[THREAD_COUNTER[2], 0]
    immed[THREAD_COUNTER[3], 0]
    immed[THREAD_COUNTER[4], 0]
    alu[THREAD_COUNTER[THREAD_RECORD_ADDRESS], --, B, address]
    alu[address, address, +, (1 << shift)]
#define_eval N (N + 1)
#endloop
.end
#endm

; thread_counters_select(group)
;   THREAD_COUNTER[0] to [4] and [THREAD_RECORD_ADDRESS] are those of `group`.
#macro thread_counters_select(group)
#if (THREAD_GROUPS != 1)
.begin
    .reg place
    alu_shf[place, --, B, group, <<THREAD_RECORD_SHIFT]
    alu[place, place, +, *l$index1[THREAD_RECORDS]]
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    nop
    nop
    nop
.end
#endif
#endm

#endif
