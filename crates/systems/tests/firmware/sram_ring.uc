; sram_ring.uc: many producers and consumers on one SRAM ring. Context 0 loads
; the ring's descriptor into the Q-array; the others wait for it. A put that the
; ring refuses is tried again.

#include "ring_traffic.uc"

.num_contexts 8

.reg $value0 $value1
.xfer_order $value0 $value1
.reg write $log0 $log1 $ready
.xfer_order $log0 $log1
.reg read $entry0 $entry1 $ticket
.xfer_order $entry0 $entry1
.sig both drawn done
.reg number cells value ring left log total

    context_number(number)
    load_constant(ring, RING)
    load_constant(total, TOTAL)
    immed[cells, 0]
    alu[--, --, B, number]
    bne[wait#]

.begin
    .reg descriptor
    load_constant(descriptor, ((DESCRIPTOR & 0x3fffffff) >> 2))
    sram[rd_qdesc_head, $entry0, ring, descriptor, 2], ctx_swap[done]
    sram[rd_qdesc_other, --, ring, descriptor]
    immed[$ready, 1]
    scratch[write, $ready, cells, READY, 1], ctx_swap[done]
.end

wait#:
    scratch[read, $ticket, cells, READY, 1], ctx_swap[done]
    br_bclr[$ticket, 0, wait#]
    br_bset[number, 0, consume#]

    alu[value, number, +, 1]
    alu_shf[value, --, B, value, <<16]
    load_constant(left, PER_PRODUCER)
put#:
    alu[$value0, --, B, value]
    alu[$value1, --, ~B, value]
    sram[put, $value0, ring, 0, 2], ctx_swap[both]
    br_bset[$value0, 31, accepted#]
    scratch[incr, --, cells, REFUSED]
    br[put#]
accepted#:
    alu[value, value, +, 1]
    alu[left, left, -, 1]
    bne[put#]
    ctx_arb[kill]

consume#:
    consumer_or_kill(number)
    load_constant(log, LOG)
get#:
    sram[get, $entry0, ring, 0, 2], ctx_swap[done]
    alu[--, --, B, $entry0]
    beq[empty#]
    record_entry($ticket, $entry0, $entry1, $log0, $log1, cells, log, drawn, done)
    br[get#]
empty#:
    stop_when_all_taken($ticket, cells, total, done)
    br[get#]
