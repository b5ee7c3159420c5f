; aisr_buffer.uc: the first stage of Asynchronous Insert, Synchronous Remove. Every
; packet gets a buffer and a sequence number in the order of arrival, is moved to
; DRAM and goes to the processing stage.
;
; One context at a time takes a packet and its number: in turn within one
; microengine, under a lock in scratch where the stage has several.

#include "constant.uc"
#include "turn.uc"
#include "receive.uc"
#include "buffer.uc"
#include "ticket.uc"

.num_contexts 8

#if (BUFFERING_COUNT == 1)
.sig volatile take
#endif
.sig taken numbered handed
.reg read $link
.reg $sequence
.reg write $packet0 $packet1
.xfer_order $packet0 $packet1
#if (BUFFERING_COUNT > 1)
.reg read $serving
.reg $number
.reg write $pass
.sig volatile rung
.sig took seen
.reg number
#endif
.reg free_queue ring count_place

    load_constant(free_queue, FREE_BUFFERS)
    immed[ring, PROCESSING_RING]
    immed[count_place, SEQUENCE]
    receive_ticket(ticket, arrived, $status)
#if (BUFFERING_COUNT == 1)
    br!=ctx[0, next#]
    turn_start(take)
#endif

next#:
.begin
    .reg handle buffer count status length verdict sequence
#if (BUFFERING_COUNT > 1)
    .reg base
#endif

have#:
    buffer_take(handle, free_queue, $link, taken)
    alu[--, --, B, handle]
    beq[have#]

#if (BUFFERING_COUNT == 1)
    ctx_arb[take]
#else
    immed[base, RECEIVE_LOCK]
    ticket_take(number, $number, $serving, base, took, seen, rung)
#endif
    packet_take(count, status)
    scratch[test_and_incr, $sequence, count_place, 0], ctx_swap[numbered]
#if (BUFFERING_COUNT == 1)
    turn_pass(take)
#else
    immed[base, RECEIVE_LOCK]
    ticket_pass(number, $pass, base, handed)
    ctx_arb[handed]
#endif

    alu[sequence, --, B, $sequence]
    buffer_address(buffer, handle)
    packet_store(length, count, status, buffer, verdict, bad#)
    br[hand_over#]
bad#:
    ; The packet has a number, so it is passed on with length 0.
    scratch[incr, --, verdict, 0]
    immed[length, 0]

hand_over#:
    alu[$packet0, --, B, handle]
    alu_shf[$packet1, length, OR, sequence, <<16]
full#:
    br_inp_state[PROCESSING_RING_STATUS, full#]
    scratch[put, $packet0, ring, 0, 2], sig_done[handed]
    ctx_arb[handed]
    br[next#]
.end
