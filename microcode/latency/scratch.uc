; Idle latencies of the scratchpad: read, write, atomic, ring get and put.

#include "measure.uc"

.num_contexts 8
.reg read $in
.reg write $out
.reg address ring
.sig done old

    br!=ctx[0, end#]
    immed[address, 0x1000]
    immed[ring, 0]                      ; ring 0, at address 0 after a reset
    alu[$out, --, B, 1]

    measure_begin()
read#:
    measure_before()
    scratch[read, $in, address, 0, 1], ctx_swap[done]
    measure_after()
    bne[read#]
    measure_store(0)

    measure_begin()
write#:
    measure_before()
    scratch[write, $out, address, 0, 1], ctx_swap[done]
    measure_after()
    bne[write#]
    measure_store(1)

    measure_begin()
increment#:
    measure_before()
    scratch[test_and_incr, $in, address, 0], ctx_swap[old]
    measure_after()
    bne[increment#]
    measure_store(2)

    measure_begin()
put#:
    measure_before()
    scratch[put, $out, ring, 0, 1], ctx_swap[done]
    measure_after()
    bne[put#]
    measure_store(3)

    measure_begin()
get#:
    measure_before()
    scratch[get, $in, ring, 0, 1], ctx_swap[done]
    measure_after()
    bne[get#]
    measure_store(4)

end#:
    ctx_arb[kill]
