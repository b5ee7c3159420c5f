; Saturates the S pull buses of all clusters with writes to more units than a bus
; can keep up with: scratchpad, media interface (TBUF) and SRAM.

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
    alu[place, number, OR, ((ME_INDEX & 3) << 3)]
    alu_shf[place, --, B, place, <<6]
    sram_channel(address, number)
    alu[--, number, -, 4]
    bhs[sram#]
    immed[address, 0]
    alu[--, number, -, 2]
    blo[scratch#]
    immed[address, 0x2000]

media#:
    msf[write, $out[0], address, 0, 8], ctx_swap[done]
    br[media#]
scratch#:
    scratch[write, $out[0], address, place, 8], ctx_swap[done]
    br[scratch#]
sram#:
    sram[write, $out[0], address, place, 8], ctx_swap[done]
    br[sram#]
