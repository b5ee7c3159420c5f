; Idle latency of one 48-bit hash.

#include "measure.uc"

.num_contexts 8
.reg $operand0 $operand1
.xfer_order $operand0 $operand1
.sig done

    br!=ctx[0, end#]
    measure_begin()
hash#:
    alu[$operand0, --, B, 5]
    alu[$operand1, --, B, 3]
    measure_before()
    hash_48[$operand0, 1], ctx_swap[done]
    measure_after()
    bne[hash#]
    measure_store(0)

end#:
    ctx_arb[kill]
