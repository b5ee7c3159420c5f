; Saturates the S push buses of all clusters with reads of more units than a bus
; can keep up with: scratchpad, media interface and SRAM.

#include "spread.uc"

.num_contexts 8
.reg read $in[8]
.xfer_order $in
.reg address number
.sig done

    context_number(number)
    sram_channel(address, number)
    alu[--, number, -, 4]
    bhs[sram#]
    immed[address, 0]
    alu[--, number, -, 2]
    blo[scratch#]
    immed[address, 0x2000]

media#:
    msf[read, $in[0], address, 0, 8], ctx_swap[done]
    br[media#]
scratch#:
    scratch[read, $in[0], address, 0, 8], ctx_swap[done]
    br[scratch#]
sram#:
    sram[read, $in[0], address, 0, 8], ctx_swap[done]
    br[sram#]
