; scratch_ring.uc: many producers and consumers on one scratch ring. With
; CHECKED 0 producers do not look whether the ring is full.

#include "ring_traffic.uc"

.num_contexts 8

.reg write $value0 $value1 $log0 $log1
.xfer_order $value0 $value1
.xfer_order $log0 $log1
.reg read $entry0 $entry1 $ticket
.xfer_order $entry0 $entry1
.sig drawn done
.reg number cells value ring left log total

    context_number(number)
    immed[ring, RING]
    load_constant(total, TOTAL)
    immed[cells, 0]
    br_bset[number, 0, consume#]

    alu[value, number, +, 1]
    alu_shf[value, --, B, value, <<16]
    load_constant(left, PER_PRODUCER)
put#:
#if (CHECKED)
    br_inp_state[RING_STATUS, full#]
#endif
    alu[$value0, --, B, value]
    alu[$value1, --, ~B, value]
    scratch[put, $value0, ring, 0, 2], ctx_swap[done]
    alu[value, value, +, 1]
    alu[left, left, -, 1]
    bne[put#]
    ctx_arb[kill]
#if (CHECKED)
full#:
    ctx_arb[voluntary]
    br[put#]
#endif

consume#:
    consumer_or_kill(number)
    load_constant(log, LOG)
get#:
    scratch[get, $entry0, ring, 0, 2], ctx_swap[done]
    alu[--, --, B, $entry0]
    beq[empty#]
    record_entry($ticket, $entry0, $entry1, $log0, $log1, cells, log, drawn, done)
    br[get#]
empty#:
    stop_when_all_taken($ticket, cells, total, done)
    br[get#]
