; Saturates the read ports of all SRAM channels; contexts are spread over channels.

#include "spread.uc"

.num_contexts 8
.reg read $in[8]
.xfer_order $in
.reg address number
.sig done

    context_number(number)
    sram_channel(address, number)
next#:
    sram[read, $in[0], address, 0, 8], ctx_swap[done]
    br[next#]
