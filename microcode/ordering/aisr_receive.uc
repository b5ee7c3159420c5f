; aisr_receive.uc: behind the first stage alone. Contexts take packets off
; PROCESSING_RING and give their buffers back: how fast the first stage is when
; nothing behind it is slower.

#include "constant.uc"
#include "timer.uc"
#include "buffer.uc"
#include "stages.uc"

.num_contexts 8

.sig volatile rung
.sig got
.reg read $in0 $in1
.xfer_order $in0 $in1
.reg ring free_queue handle counter

    immed[ring, PROCESSING_RING]
    immed[counter, DISCARDED]
    load_constant(free_queue, FREE_BUFFERS)

next#:
    ring_take($in0, ring, 2, got, rung)
    alu[handle, --, B, $in0]
    buffer_return(handle, free_queue)
    scratch[incr, --, counter, 0]
    br[next#]
