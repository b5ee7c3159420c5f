; Saturates the D push bus with data to microengines, which accept 32 bits per bus
; clock: every context repeatedly reads 64 bytes from DRAM.
; Threads are spread over banks so that consecutive commands, whether from one
; microengine or from several, access different banks.

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
