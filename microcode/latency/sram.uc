; Idle latencies of an SRAM channel: read, write, atomic, dequeue, ring put and
; get, and reading a register of the channel.

#include "measure.uc"

; Q-array entries: a queue, and a ring of 512 longwords at address 0.
#define QUEUE (0 << 24)
#define RING  (1 << 24)

.num_contexts 8
.reg read $in
.reg write $out
.reg $status                        ; the longword to put, then the returned status
.reg address entry buffer count
.sig done old put

    br!=ctx[0, end#]
    immed[address, 0x4000]
    alu[$out, --, B, 1]

    measure_begin()
read#:
    measure_before()
    sram[read, $in, address, 0, 1], ctx_swap[done]
    measure_after()
    bne[read#]
    measure_store(0)

    measure_begin()
write#:
    measure_before()
    sram[write, $out, address, 0, 1], ctx_swap[done]
    measure_after()
    bne[write#]
    measure_store(1)

    measure_begin()
increment#:
    measure_before()
    sram[test_and_incr, $in, address, 0], ctx_swap[old]
    measure_after()
    bne[increment#]
    measure_store(2)

    ; Buffers at longwords 0x2000, 0x2001, ... for the dequeues.
    immed[entry, (QUEUE >> 16), <<16]
    immed[buffer, 0x2000]
    immed[count, REPEATS]
fill#:
    sram[enqueue, --, entry, buffer]
    alu[buffer, buffer, +, 1]
    alu[count, count, -, 1]
    bne[fill#]
    sram[read, $in, address, 0, 1], ctx_swap[done]
    immed[count, 200]
settle#:
    alu[count, count, -, 1]
    bne[settle#]

    measure_begin()
dequeue#:
    measure_before()
    sram[dequeue, $in, entry, 0], ctx_swap[done]
    measure_after()
    bne[dequeue#]
    measure_store(3)

    immed[entry, (RING >> 16), <<16]
    alu[$status, --, B, 1]
    measure_begin()
put#:
    measure_before()
    sram[put, $status, entry, 0, 1], ctx_swap[put]
    measure_after()
    bne[put#]
    measure_store(4)

    measure_begin()
get#:
    measure_before()
    sram[get, $in, entry, 0, 1], ctx_swap[done]
    measure_after()
    bne[get#]
    measure_store(5)

    immed[address, 0]
    measure_begin()
register#:
    measure_before()
    sram[csr_rd, $in, address, 0], ctx_swap[done]
    measure_after()
    bne[register#]
    measure_store(6)

end#:
    ctx_arb[kill]
