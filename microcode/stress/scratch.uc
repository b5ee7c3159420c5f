; Saturates the scratchpad: every context repeatedly reads eight longwords.

.num_contexts 8
.reg read $in[8]
.xfer_order $in
.reg address
.sig done

    immed[address, 0]
next#:
    scratch[read, $in[0], address, 0, 8], ctx_swap[done]
    br[next#]
