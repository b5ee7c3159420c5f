; Saturates the write ports of all SRAM channels. Each thread writes to an address
; of its own, since writes to the same address are kept in order.

#include "spread.uc"

.num_contexts 8
.reg write $out[8]
.xfer_order $out
.reg address number place
.sig done

#define_eval N 0
#while (N < 8)
    alu[$out[N], --, B, N]
#define_eval N (N + 1)
#endloop
    context_number(number)
    sram_channel(address, number)
    alu_shf[place, --, B, number, <<6]
    alu[address, address, OR, place]
    immed[place, (ME_INDEX << 9)]
next#:
    sram[write, $out[0], address, place, 8], ctx_swap[done]
    br[next#]
