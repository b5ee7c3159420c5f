; send.uc: the last stage of schemes that divide the work. Contexts take packets off
; TX_RING, whose elements of TBUF are settled already, and fill these.

#include "constant.uc"
#include "claims.uc"
#include "buffer.uc"
#include "stages.uc"

.num_contexts 8

.sig got
.reg read $in0 $in1 $in2
.xfer_order $in0 $in1 $in2
.reg ring free_queue

    immed[ring, TX_RING]
    load_constant(free_queue, FREE_BUFFERS)
    transmit_set_up()
    br!=ctx[0, next#]
    immed[@left, 0]

next#:
.begin
    .reg handle port_out length place end buffer
    ring_take($in0, ring, 3, got, rung)
    ld_field_w_clr[handle, 0111, $in0]
    alu_shf[port_out, --, B, $in0, >>24]
    alu[length, --, B, $in1]
    alu[place, --, B, $in2]
    alu[end, length, +, 63]
    alu_shf[end, --, B, end, >>6]
    alu[end, end, +, place]
    claim_wait(end)
    buffer_address(buffer, handle)
    packet_send(place, buffer, length, port_out)
    buffer_return(handle, free_queue)
    br[next#]
.end
