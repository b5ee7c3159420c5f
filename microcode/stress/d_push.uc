; Saturates the D push bus on its way to microengines, which take 32 bits a bus
; clock: every context reads 64 bytes of DRAM after 64.
; Threads are spread over banks so that commands that follow each other, of one
; microengine as of several, fall in different ones.

#include "spread.uc"

.num_contexts 8
.reg read $$in[16]
.xfer_order $$in
.reg address number place
.sig done

    context_number(number)
    alu[number, number, +, ME_INDEX]
    alu_shf[address, --, B, number, <<11]
    immed[place, (ME_INDEX << 7)]
next#:
    dram[read, $$in[0], address, place, 8], ctx_swap[done]
    br[next#]
