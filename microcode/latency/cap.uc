; Idle latencies of the CSR proxy: reading and writing a register, signalling a
; thread, and the reflector. Runs on microengine 0.

#include "measure.uc"

.num_contexts 8
.reg read $in
.reg write $out
.reg reflected
.sig done
.sig volatile poked

    br!=ctx[0, end#]
    alu[$out, --, B, 1]
    immed[reflected, (&$out << 2)]      ; microengine 0, register of context 0

    measure_begin()
read#:
    measure_before()
    cap[read, $in, CAP_MISC_CONTROL], ctx_swap[done]
    measure_after()
    bne[read#]
    measure_store(0)

    measure_begin()
write#:
    measure_before()
    cap[write, $out, THREAD_MESSAGE_0], ctx_swap[done]
    measure_after()
    bne[write#]
    measure_store(1)

    .set_sig poked
    measure_begin()
poke#:
    measure_before()
    cap[fast_wr, &poked, INTERTHREAD_SIGNAL]
    ctx_arb[poked]
    measure_after()
    bne[poke#]
    measure_store(2)

    measure_begin()
reflect#:
    measure_before()
    cap[reflect_read, $in, reflected, 0, 1], ctx_swap[done]
    measure_after()
    bne[reflect#]
    measure_store(3)

end#:
    ctx_arb[kill]
