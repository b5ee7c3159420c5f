; forward.uc: the receive and routing stage of the IPv4 forwarder.
;
; Eight contexts take mpackets in order of arrival. Each stores its mpacket in
; the packet's buffer; the one that holds a packet's last mpacket routes it.
; Four turns keep contexts in order where order matters and nowhere else:
;
;   ask     enter the receive freelist, so that mpackets go to contexts in turn
;   gather  touch the port's reassembly record in local memory
;   stored  an mpacket counts as stored only after all before it
;   out     hand packets on in the order in which they arrived
;
; Between turns contexts overlap, and memory latency hides behind the others.

#include "constant.uc"
#include "turn.uc"
#include "rbuf.uc"
#include "buffer.uc"
#include "checksum.uc"
#include "route.uc"

; Reasons given to the slow path; the project file names them in this order.
#define EXCEPTION_NOT_IPV4   1
#define EXCEPTION_LINK_GROUP 2
#define EXCEPTION_OPTIONS    3
#define EXCEPTION_MULTICAST  4
#define EXCEPTION_LOCAL      5
#define EXCEPTION_NO_ROUTE   6
#define EXCEPTION_TTL        7
#define EXCEPTION_MTU        8
#define EXCEPTION_NOT_FOR_US 9

; A port's reassembly record in local memory, 16 bytes at port * 16.
#define RECORD_HANDLE 0     ; buffer of the packet in progress, 0: none
#define RECORD_BYTES  1     ; how much of it has come
#define RECORD_ERRORS 2     ; error bit of any of its mpackets

; require_own_address(n, high, low)
;   A frame that came in on port n goes to exception# unless its destination is
;   the port's address: high has the upper 32 bits, low the lower 16. For use
;   where $$h0, `port`, `upper` (the frame's bytes 4 and 5) and `verdict` stand.
#macro require_own_address(n, high, low)
.begin
    .reg own
    alu[--, port, -, n]
    bne[another#]
    load_constant(own, high)
    alu[--, own, XOR, $$h0]
    bne[exception#]
    load_constant(own, low)
    alu[--, own, XOR, upper]
    bne[exception#]
another#:
.end
#endm

.num_contexts 8

; Receive status, pushed by the media interface.
.reg read $status $checksum
.xfer_order $status $checksum

; Frame longwords 0 to 9: Ethernet header, IPv4 header from the middle of 3.
.reg read $$h0 $$h1 $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9
.xfer_order $$h0 $$h1 $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9
.reg write $$o0 $$o1 $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
.xfer_order $$o0 $$o1 $$o2 $$o3 $$o4 $$o5 $$o6 $$o7

.reg read $link $entry
.reg read $hop0 $hop1 $hop2 $hop3
.xfer_order $hop0 $hop1 $hop2 $hop3
.reg write $descriptor0 $descriptor1
.xfer_order $descriptor0 $descriptor1

.sig volatile ask gather stored out
.sig volatile arrived
.sig moved fetched handed

; Registers that a context keeps from packet to packet.
.reg ticket free_queue tx_ring exception_ring route_root next_hops
.reg spare ones ttl_step ttl_one

.begin
    .reg record

    load_constant(free_queue, FREE_BUFFERS)
    immed[tx_ring, TX_RING]
    immed[exception_ring, EXCEPTION_RING]
    load_constant(route_root, ROUTE_ROOT)
    load_constant(next_hops, NEXT_HOPS)
    load_constant(ones, 0xffff)
    load_constant(ttl_step, 0xfeff)
    load_constant(ttl_one, 0x100)
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
    turn_start(ask)
    turn_start(gather)
    turn_start(stored)
    turn_start(out)
.end

receive#:
.begin
    .reg status port element bytes handle start place end errors buffer verdict
    .reg record stale

    ; A spare buffer is taken here so that no turn is held while memory answers.
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
    ; never came still stands in the record; its buffer goes back.
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

    ; Without a buffer, and beyond the end of one, the data goes nowhere.
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

.begin
    .reg ethertype total payload sum source destination upper top hop hop_address port_out

    dram[read, $$h0, buffer, 0, 5], ctx_swap[fetched]

    ; Link layer.
    alu_shf[ethertype, --, B, $$h3, >>16]
    immed[total, 0x0800]
    alu[--, ethertype, -, total]
    bne[exception#], defer[1]
    immed[verdict, EXCEPTION_NOT_IPV4]
    br_bset[$$h0, 24, exception#], defer[1]
    immed[verdict, EXCEPTION_LINK_GROUP]

#ifndef ACCEPT_ANY_MAC
    ; The frame must be addressed to the port that it came in on.
    alu_shf[upper, --, B, $$h1, >>16]
    immed[verdict, EXCEPTION_NOT_FOR_US]
#define_eval N 0
#while (N < PORT_COUNT)
    require_own_address(N, PORT/**/N/**/_MAC_HI, PORT/**/N/**/_MAC_LO)
#define_eval N (N + 1)
#endloop
#endif

    ; RFC 1812, 5.2.2: version, header length, total length, checksum.
    br!=byte[$$h3, 1, 0x45, unusual#]
    alu_shf[total, --, B, $$h4, >>16]
    alu[payload, end, -, 14]
    alu[--, payload, -, total]
    blo[drop#], defer[1]
    immed[verdict, DROP_LENGTH]
    alu[--, total, -, 20]
    blo[drop#], defer[1]
    immed[verdict, DROP_LENGTH]
    checksum_ipv4(sum, $$h3, $$h4, $$h5, $$h6, $$h7, $$h8)
    alu[--, sum, XOR, ones]
    bne[drop#], defer[1]
    immed[verdict, DROP_CHECKSUM]

    ; RFC 1812, 5.3.7: addresses that are never forwarded.
    alu_shf[upper, --, B, $$h6, <<16]
    alu_shf[source, upper, OR, $$h7, >>16]
    alu_shf[upper, --, B, $$h7, <<16]
    alu_shf[destination, upper, OR, $$h8, >>16]
    alu_shf[top, --, B, source, >>24]
    beq[drop#], defer[1]
    immed[verdict, DROP_MARTIAN]
    alu[--, top, -, 127]
    beq[drop#]
    alu[--, top, -, 224]
    bhs[drop#]
    alu_shf[top, --, B, destination, >>24]
    beq[drop#]
    alu[--, top, -, 127]
    beq[drop#]
    alu[--, top, -, 224]
    bhs[grouped#]

    ; The route; a destination of the router's own is local whatever the TTL.
    route_lookup(hop, destination, route_root, $entry, fetched)
    alu[--, --, B, hop]
    beq[exception#], defer[1]
    immed[verdict, EXCEPTION_NO_ROUTE]
    alu_shf[hop_address, --, B, hop, <<4]
    sram[read, $hop0, next_hops, hop_address, 4], ctx_swap[fetched]
    br_bset[$hop0, 8, exception#], defer[1]
    immed[verdict, EXCEPTION_LOCAL]
    alu_shf[top, 0xff, AND, $$h5, >>8]
    alu[--, top, -, 2]
    blo[exception#], defer[1]
    immed[verdict, EXCEPTION_TTL]
    alu_shf[upper, --, B, $hop0, >>16]
    alu[--, upper, -, total]
    blo[exception#], defer[1]
    immed[verdict, EXCEPTION_MTU]

    ; New Ethernet header, TTL, checksum; the rest as it was.
    alu[$$o0, --, B, $hop1]
    alu[$$o1, --, B, $hop2]
    alu[$$o2, --, B, $hop3]
    alu[$$o3, --, B, $$h3]
    alu[$$o4, --, B, $$h4]
    alu[$$o5, $$h5, -, ttl_one]
    checksum_ttl_step($$o6, $$h6, ones, ttl_step)
    alu[$$o7, --, B, $$h7]
    dram[write, $$o0, buffer, 0, 4], ctx_swap[fetched]

    ; To the transmit stage: port and buffer, then the frame's length.
    alu[port_out, $hop0, AND, 0xff]
    alu_shf[$descriptor0, handle, OR, port_out, <<24]
    alu[$descriptor1, --, B, end]
    ctx_arb[out]
    br_inp_state[TX_RING_STATUS, congested#]
    scratch[put, $descriptor0, tx_ring, 0, 2], sig_done[handed]
    turn_pass(out)
    ctx_arb[handed]
    br[receive#]

congested#:
    turn_pass(out)
    immed[verdict, DROP_TX_RING_FULL]
    br[count#]

unusual#:
    ; Another version, a header that is too short, or options.
    alu_shf[top, 0xf, AND, $$h3, >>12]
    alu[--, top, -, 4]
    bne[drop#], defer[1]
    immed[verdict, DROP_VERSION]
    alu_shf[top, 0xf, AND, $$h3, >>8]
    alu[--, top, -, 5]
    blo[drop#], defer[1]
    immed[verdict, DROP_LENGTH]
    immed[verdict, EXCEPTION_OPTIONS]
    br[exception#]

grouped#:
    ; 224.0.0.0/4 and the limited broadcast are for the slow path, 240.0.0.0/4
    ; is reserved.
    alu[--, top, -, 240]
    blo[exception#], defer[1]
    immed[verdict, EXCEPTION_MULTICAST]
    alu[sum, --, ~B, destination]
    bne[drop#], defer[1]
    immed[verdict, DROP_MARTIAN]
    immed[verdict, EXCEPTION_MULTICAST]
.end

exception#:
#ifdef CORE_RING
    ; The core may answer: it needs the frame's length and the port.
    alu[$descriptor0, --, B, end]
    alu[$descriptor1, --, B, port]
    descriptor_address(place, handle)
    sram[write, $descriptor0, place, DESCRIPTOR_LENGTH, 2], ctx_swap[handed]
#endif
    ; To the slow path: reason and buffer.
    alu_shf[$descriptor0, handle, OR, verdict, <<24]
    ctx_arb[out]
    br_inp_state[EXCEPTION_RING_STATUS, slow_path_busy#]
    scratch[put, $descriptor0, exception_ring, 0, 1], sig_done[handed]
    turn_pass(out)
    ctx_arb[handed]
    br[receive#]

slow_path_busy#:
    turn_pass(out)
    immed[verdict, DROP_SLOW_PATH_FULL]
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
    ; The buffer of a dropped packet is the next spare if there is none.
    scratch[incr, --, verdict, 0]
    alu[--, --, B, spare]
    bne[give_back#]
    alu[spare, --, B, handle]
    br[receive#]
give_back#:
    buffer_return(handle, free_queue)
    br[receive#]
.end
