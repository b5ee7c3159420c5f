; Idle latencies of DRAM: reading and writing a quadword, and moving 64 bytes from
; RBUF and to TBUF.

#include "measure.uc"

; The override word of a media transfer: eight quadwords (bit 25, 7 in 24..21),
; element 1 (64 << 5) in the window at 0x2000 (bit 18), address override (bit 4).
#define OVERRIDE ((1 << 25) | (7 << 21) | (1 << 18) | (1 << 11) | (1 << 4))

.num_contexts 8
.reg read $$in0 $$in1
.xfer_order $$in0 $$in1
.reg write $$out0 $$out1
.xfer_order $$out0 $$out1
.reg address override
.sig done

    br!=ctx[0, end#]
    immed[address, 0x1000]
    alu[$$out0, --, B, 1]
    alu[$$out1, --, B, 2]
    immed[override, (OVERRIDE & 0xffff)]
    immed_w1[override, (OVERRIDE >> 16)]

    measure_begin()
read#:
    measure_before()
    dram[read, $$in0, address, 0, 1], ctx_swap[done]
    measure_after()
    bne[read#]
    measure_store(0)

    measure_begin()
write#:
    measure_before()
    dram[write, $$out0, address, 0, 1], ctx_swap[done]
    measure_after()
    bne[write#]
    measure_store(1)

    ; The override must be the result of the instruction before the command, so there
    ; is one more instruction than elsewhere between counter and command.
    measure_begin()
from_rbuf#:
    measure_before()
    alu[--, --, B, override]
    dram[rbuf_rd, --, address, 0, max_8], indirect_ref, ctx_swap[done]
    measure_after()
    bne[from_rbuf#]
    measure_store(2)

    measure_begin()
to_tbuf#:
    measure_before()
    alu[--, --, B, override]
    dram[tbuf_wr, --, address, 0, max_8], indirect_ref, ctx_swap[done]
    measure_after()
    bne[to_tbuf#]
    measure_store(3)

end#:
    ctx_arb[kill]
