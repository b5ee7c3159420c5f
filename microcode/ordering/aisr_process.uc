; aisr_process.uc: the second stage. Contexts take packets off PROCESSING_RING, run
; free, and hand them on in whatever order they are done.

#include "constant.uc"
#include "timer.uc"
#include "ipv4.uc"
#include "buffer.uc"
#include "stages.uc"

.num_contexts 8

.sig volatile rung
.sig got handed
.reg read $in0 $in1
.xfer_order $in0 $in1
.reg write $out0 $out1
.xfer_order $out0 $out1
.reg ring next_ring

    immed[ring, PROCESSING_RING]
    immed[next_ring, REORDER_RING]

next#:
.begin
    .reg handle length buffer port_out verdict

    ring_take($in0, ring, 2, got, rung)
    alu[handle, --, B, $in0]
    ld_field_w_clr[length, 0011, $in1]
    immed[port_out, 0]
    alu[--, --, B, length]
    beq[hand_over#]
    buffer_address(buffer, handle)
    ipv4_forward(port_out, buffer, length, verdict, drop#)
    ipv4_written()
    br[hand_over#]
drop#:
    scratch[incr, --, verdict, 0]
    immed[length, 0]

hand_over#:
    alu_shf[$out0, handle, OR, port_out, <<24]
    ld_field_w_clr[verdict, 1100, $in1]
    alu[$out1, verdict, OR, length]
full#:
    br_inp_state[REORDER_RING_STATUS, full#]
    scratch[put, $out0, next_ring, 0, 2], sig_done[handed]
    ctx_arb[handed]
    br[next#]
.end
