; Saturates the data pins of DRAM, or the push bus where that is slower, with
; 128-byte transfers to TBUF. Each thread steps through banks and channels. WRITERS
; of the eight contexts of a microengine move data from RBUF instead.

#include "spread.uc"

#ifndef WRITERS
#define WRITERS 0
#endif

; Sixteen quadwords (bit 25, 15 in 24..21), element 2 in the window at 0x2000
; (bit 18), address override (bit 4).
#define OVERRIDE ((1 << 25) | (15 << 21) | (1 << 18) | (2 << 11) | (1 << 4))
; One row and one block further on: another bank and another channel.
#define STEP (2048 + 128)

.num_contexts 8
.reg address number override mask step
.sig done

    immed[override, (OVERRIDE & 0xffff)]
    immed_w1[override, (OVERRIDE >> 16)]
    immed[mask, 0xffff]
    immed_w1[mask, 0x3]
    immed[step, STEP]
    context_number(number)
    alu_shf[address, number, OR, ME_INDEX, <<3]
    alu_shf[address, --, B, address, <<11]
    alu[--, number, -, WRITERS]
    blo[write#]

read#:
    alu[address, address, +, step]
    alu[address, address, AND, mask]
    alu[--, --, B, override]
    dram[tbuf_wr, --, address, 0, max_8], indirect_ref, ctx_swap[done]
    br[read#]

write#:
    alu[address, address, +, step]
    alu[address, address, AND, mask]
    alu[--, --, B, override]
    dram[rbuf_rd, --, address, 0, max_8], indirect_ref, ctx_swap[done]
    br[write#]
