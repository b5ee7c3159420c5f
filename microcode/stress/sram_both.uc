; Saturates both ports of all SRAM channels at once: even contexts read, odd ones
; write elsewhere.

#include "spread.uc"

.num_contexts 8
.reg read $in[8]
.xfer_order $in
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
    alu_shf[address, --, B, number, >>1]
    sram_channel(address, address)
    alu_shf[place, --, B, number, <<6]
    alu[address, address, OR, place]
    immed[place, (ME_INDEX << 9)]
    br_bset[number, 0, write#]

read#:
    sram[read, $in[0], address, place, 8], ctx_swap[done]
    br[read#]

write#:
    sram[write, $out[0], address, place, 8], ctx_swap[done]
    br[write#]
