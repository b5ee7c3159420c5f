; packet_sort_process.uc: the first stage of Packet Sort. Contexts take packets in
; turn and process them freely; in between each packet gets a number within its lane,
; in the order of arrival. A lane is all flows whose addresses fall together.

#include "constant.uc"
#define STAGE_FIRST PROCESSING_FIRST
#define STAGE_COUNT PROCESSING_COUNT
#include "turns.uc"
#include "receive.uc"
#include "ipv4.uc"
#include "buffer.uc"
#include "lanes.uc"

.num_contexts 8

.sig volatile start order
.addr start 1
.addr order 2
.sig taken numbered handed
.reg read $link
.reg $number
.reg write $packet0 $packet1 $packet2
.xfer_order $packet0 $packet1 $packet2
.reg free_queue ring

.begin
    .reg context
    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    alu[--, context, -, CONTEXTS]
    blo[works#]
    ctx_arb[kill]
works#:
    load_constant(free_queue, FREE_BUFFERS)
    immed[ring, SORT_RING]
    receive_ticket(ticket, arrived, $status)
    turns_set_up(context)
#if (ME_INDEX == STAGE_FIRST)
    br!=ctx[0, next#]
    turn_start(start)
    turn_start(order)
#endif
.end

next#:
.begin
    .reg handle buffer count status length port_out verdict source destination lane number base

have#:
    buffer_take(handle, free_queue, $link, taken)
    alu[--, --, B, handle]
    beq[have#]
again#:
    ctx_arb[start]
    packet_take(count, status)
    turns_pass(start)

    buffer_address(buffer, handle)
    packet_store(length, count, status, buffer, verdict, unknown#)
    ipv4_header(source, destination, buffer, length, verdict, unknown#)

    lane_of(lane, source, destination)
    immed[base, LANE_NUMBERS]
    alu_shf[number, --, B, lane, <<2]
    ctx_arb[order]
    scratch[test_and_incr, $number, base, number], ctx_swap[numbered]
    turns_pass(order)
    ld_field_w_clr[number, 0011, $number]

    ipv4_route(port_out, destination, buffer, verdict, drop#)
    ipv4_written()
    br[hand_over#]
drop#:
    ; The lane waits for its number: a packet of no length.
    scratch[incr, --, verdict, 0]
    immed[length, 0]
    immed[port_out, 0]
hand_over#:
    alu_shf[$packet0, handle, OR, port_out, <<24]
    alu_shf[$packet1, number, OR, lane, <<16]
    alu[$packet2, --, B, length]
full#:
    br_inp_state[SORT_RING_STATUS, full#]
    scratch[put, $packet0, ring, 0, 3], sig_done[handed]
    ctx_arb[handed]
    br[next#]

unknown#:
    ; The packet belongs to no lane; the buffer serves the next one.
    ctx_arb[order]
    turns_pass(order)
    scratch[incr, --, verdict, 0]
    br[again#]
.end
