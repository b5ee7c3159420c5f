; receive.uc: the receive stage. Eight contexts of one microengine.
;
; Takes mpackets in order of arrival, stores each in its packet's buffer, and
; hands complete packets on to the processing stage: metadata in SRAM, the buffer
; handle and a sequence number on PROCESSING_RING. Four turns keep contexts in
; order where order matters and nowhere else:
;
;   ask     enter the receive freelist, so that mpackets go to contexts in turn
;   gather  update the port's reassembly record in local memory
;   stored  an mpacket counts as stored only after all earlier ones do
;   out     number packets and hand them on in order of arrival

#include "constant.uc"
#include "turn.uc"
#include "rbuf.uc"
#include "buffer.uc"
#include "../router.uc"

; A port's reassembly record in local memory, 16 bytes at port * 16.
#define RECORD_HANDLE 0     ; buffer of the packet in progress, 0 if none
#define RECORD_BYTES  1     ; bytes of it received so far
#define RECORD_ERRORS 2     ; whether any of its mpackets had an error

.num_contexts 8

; Receive status, pushed by the media interface.
.reg read $status $checksum
.xfer_order $status $checksum

.reg read $link
.reg write $length $input
.xfer_order $length $input
.reg write $message0 $message1
.xfer_order $message0 $message1

.sig volatile ask gather stored out
.sig volatile arrived
.sig moved fetched noted handed

; Shared by the contexts: the next sequence number.
.reg @sequence

.reg ticket free_queue processing_ring spare

.begin
    .reg record

    load_constant(free_queue, FREE_BUFFERS)
    immed[processing_ring, PROCESSING_RING]
    immed[spare, 0]
    receive_ticket(ticket, arrived, $status)

    br!=ctx[0, receive#]

    ; Context 0: no packet is in progress on any port, and the turns start here.
    immed[record, 0]
#define_eval N 0
#while (N < PORT_COUNT)
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[record, record, +, 16]
    nop
    nop
    immed[*l$index0[RECORD_HANDLE], 0]
#define_eval N (N + 1)
#endloop
    immed[@sequence, FIRST_SEQUENCE]
    turn_start(ask)
    turn_start(gather)
    turn_start(stored)
    turn_start(out)
.end

receive#:
.begin
    .reg status port element bytes handle start place end errors buffer verdict
    .reg record stale meta number

    ; A spare buffer is taken here so that no turn is held during the memory access.
    alu[--, --, B, spare]
    bne[spared#]
    buffer_take(spare, free_queue, $link, fetched)
spared#:

    ctx_arb[ask]
    receive_request(ticket, arrived)
    turn_pass(ask)

    ctx_arb[arrived, gather]
    .set $status $checksum

    alu[status, --, B, $status]
    alu[port, status, AND, 0x1f]
    alu_shf[record, --, B, port, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu_shf[element, 0x7f, AND, status, >>24]
    alu_shf[bytes, 0xff, AND, status, >>16]
    alu_shf[errors, 1, AND, status, >>RECEIVE_ERROR_BIT]

    immed[stale, 0]
    br_bclr[status, RECEIVE_SOP_BIT, continues#]

    ; First mpacket: the spare buffer becomes the packet's. A packet whose end
    ; never arrived is still in the record; its buffer is returned.
    alu[stale, --, B, *l$index0[RECORD_HANDLE]]
    alu[handle, --, B, spare]
    immed[spare, 0]
    immed[start, 0]
    br[gathered#]

continues#:
    alu[handle, --, B, *l$index0[RECORD_HANDLE]]
    alu[start, --, B, *l$index0[RECORD_BYTES]]
    alu[errors, errors, OR, *l$index0[RECORD_ERRORS]]

gathered#:
    alu[end, start, +, bytes]
    br_bset[status, RECEIVE_EOP_BIT, ends#], defer[1]
    immed[*l$index0[RECORD_HANDLE], 0]
    alu[*l$index0[RECORD_HANDLE], --, B, handle]
    alu[*l$index0[RECORD_BYTES], --, B, end]
    alu[*l$index0[RECORD_ERRORS], --, B, errors]
ends#:
    turn_pass(gather)

    alu[--, --, B, stale]
    beq[fresh#]
    buffer_return(stale, free_queue)
fresh#:

    ; Without a buffer, or beyond the end of one, the data is not stored.
    buffer_address(buffer, handle)
    alu[--, --, B, handle]
    beq[unstored#]
    load_constant(place, BUFFER_SIZE)
    alu[--, place, -, end]
    blo[unstored#], defer[1]
    alu[place, buffer, +, start]
    receive_store(element, bytes, place, moved)
unstored#:
    receive_free(element)

    ctx_arb[stored]
    turn_pass(stored)
    br_bset[status, RECEIVE_EOP_BIT, whole#]
    ctx_arb[out]
    turn_pass(out)
    br[receive#]

whole#:
    ; ---- the whole packet is in DRAM ----
    alu[--, --, B, handle]
    beq[lost#], defer[1]
    immed[verdict, DROP_NO_BUFFER]
    load_constant(place, BUFFER_SIZE)
    alu[--, place, -, end]
    blo[drop#], defer[1]
    immed[verdict, DROP_TOO_LONG]
    br_bset[errors, 0, drop#], defer[1]
    immed[verdict, DROP_RECEIVE_ERROR]

    metadata_address(meta, handle)
    alu[$length, --, B, end]
    alu[$input, --, B, port]
    sram[write, $length, meta, META_LENGTH, 2], sig_done[noted]

    ctx_arb[noted, out]
    br_inp_state[PROCESSING_RING_STATUS, full#]
    alu[$message0, --, B, handle]
    alu[$message1, --, B, @sequence]
    scratch[put, $message0, processing_ring, 0, 2], sig_done[handed]
    alu[number, @sequence, +, 1]
    ld_field[number, 1100, 0]
    alu[@sequence, --, B, number]
    turn_pass(out)
    ctx_arb[handed]
    br[receive#]

full#:
    turn_pass(out)
    immed[verdict, DROP_PROCESSING_FULL]
    br[count#]

lost#:
    ctx_arb[out]
    turn_pass(out)
    scratch[incr, --, verdict, 0]
    br[receive#]

drop#:
    ctx_arb[out]
    turn_pass(out)
count#:
    ; The buffer of a dropped packet becomes the spare if there is none.
    scratch[incr, --, verdict, 0]
    alu[--, --, B, spare]
    bne[give_back#]
    alu[spare, --, B, handle]
    br[receive#]
give_back#:
    buffer_return(handle, free_queue)
    br[receive#]
.end
