; Idle latencies of the media interface: reading a register and writing TBUF.

#include "measure.uc"

.num_contexts 8
.reg read $in
.reg write $out
.reg register tbuf
.sig done

    br!=ctx[0, end#]
    immed[register, HWM_CONTROL]
    immed[tbuf, 0x2000]
    alu[$out, --, B, 1]

    measure_begin()
read#:
    measure_before()
    msf[read, $in, register, 0, 1], ctx_swap[done]
    measure_after()
    bne[read#]
    measure_store(0)

    measure_begin()
write#:
    measure_before()
    msf[write, $out, tbuf, 0, 1], ctx_swap[done]
    measure_after()
    bne[write#]
    measure_store(1)

end#:
    ctx_arb[kill]
