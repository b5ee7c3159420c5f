; Saturates the coprocessor's Quick-Start module: every context requests the lowest
; rate as fast as answers arrive; a request and its answer are a single read.

#include "constant.uc"

.num_contexts 8
.reg read $grant
.reg requests
.sig done

    load_constant(requests, FEEDBACK_REQUESTS)
next#:
    sram[read, $grant, requests, 4, 1], ctx_swap[done]
    br[next#]
