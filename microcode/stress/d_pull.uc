; Saturates the D pull bus with data from microengines, which supply 32 bits per
; bus clock: every context repeatedly writes 64 bytes to DRAM.
; Threads are spread over banks so that consecutive commands, whether from one
; microengine or from several, access different banks.

#include "spread.uc"

.num_contexts 8
.reg write $$out[16]
.xfer_order $$out
.reg address number place
.sig done

#define_eval N 0
#while (N < 16)
    alu[$$out[N], --, B, N]
#define_eval N (N + 1)
#endloop
    context_number(number)
    alu[number, number, +, ME_INDEX]
    alu_shf[address, --, B, number, <<11]
    immed[place, (ME_INDEX << 7)]
next#:
    dram[write, $$out[0], address, place, 8], ctx_swap[done]
    br[next#]
