; Common to the firmware on rings: TOTAL entries of two longwords, a value and
; its complement, go from even contexts to odd ones. Of a value bits 31-16 are
; the producer's number + 1 and bits 15-0 count on.

#ifndef RING_TRAFFIC_UC
#define RING_TRAFFIC_UC

#include "constant.uc"
#include "context_number.uc"

#define TOTAL        2048
#define PER_PRODUCER (TOTAL / (ME_COUNT * 4))

; Every odd context is a consumer, or only the first one.
#macro consumer_or_kill(number)
#if (ONE_CONSUMER)
    alu[--, number, -, 1]
    beq[consumer#]
    ctx_arb[kill]
consumer#:
#endif
#endm

; record_entry($ticket, $entry0, $entry1, $log0, $log1, cells, log, drawn, done)
;   Writes an entry down at the place that TAKEN gives out; `cells` is 0.
#macro record_entry(ticket, entry0, entry1, log0, log1, cells, log, drawn, done)
.begin
    .reg place
    alu[log0, --, B, entry0]
    alu[log1, --, B, entry1]
    scratch[test_and_incr, ticket, cells, TAKEN], ctx_swap[drawn]
    alu_shf[place, --, B, ticket, <<3]
    sram[write, log0, log, place, 2], ctx_swap[done]
.end
#endm

; stop_when_all_taken($taken, cells, total, done)
;   Ends the context when TOTAL entries were taken, else lets others run.
#macro stop_when_all_taken(taken, cells, total, done)
    scratch[read, taken, cells, TAKEN, 1], ctx_swap[done]
    alu[--, total, -, taken]
    bne[more#]
    ctx_arb[kill]
more#:
#endm

#endif
