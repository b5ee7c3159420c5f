; Saturates both ports of all SRAM channels at once: every context reads and
; writes eight longwords at the same time, at an address of its own.

#include "spread.uc"

.num_contexts 8
.reg read $in[8]
.xfer_order $in
.reg write $out[8]
.xfer_order $out
.reg address number place
.sig got put

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
    sram[read, $in[0], address, place, 8], sig_done[got]
    sram[write, $out[0], address, place, 8], sig_done[put]
    ctx_arb[got, put]
    br[next#]
