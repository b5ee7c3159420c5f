; processing.uc: the packet processing stage. Eight contexts on each of N
; microengines; a context processes one packet from beginning to end.
;
; Contexts of one microengine take packets in turn; no other order is kept here.
; Each packet has a sequence number, and its result goes into the slot of that
; number, whether the packet was forwarded or dropped.

#include "constant.uc"
#include "turn.uc"
#include "timer.uc"
#include "buffer.uc"
#include "checksum.uc"
#include "route.uc"
#include "../router.uc"
#include "../take.uc"
#include "ethernet.uc"
#include "ipv4.uc"
#include "source.uc"
#include "classify.uc"
#include "statistics.uc"
#include "hand_over.uc"
#include "extension.uc"

; Exception reasons for the slow path; the project file names them in this order.
#define EXCEPTION_NOT_IPV4   1
#define EXCEPTION_LINK_GROUP 2
#define EXCEPTION_OPTIONS    3
#define EXCEPTION_MULTICAST  4
#define EXCEPTION_LOCAL      5
#define EXCEPTION_NO_ROUTE   6
#define EXCEPTION_TTL        7
#define EXCEPTION_MTU        8
#define EXCEPTION_NOT_FOR_US 9
#define EXCEPTION_BAD_OPTION 10

.num_contexts 8

; Frame longwords 0 to 3: the Ethernet header up to the middle of longword 3.
.reg read $$e0 $$e1 $$e2 $$e3
.xfer_order $$e0 $$e1 $$e2 $$e3
; Frame longwords 2 to 9: the IPv4 header from the middle of longword 3, and the
; ports; up to longword 13 with an extension.
#ifdef EXTENDED
#define HEADER_QUADWORDS 6
.reg read $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9 $$h10 $$h11 $$h12 $$h13
.xfer_order $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9 $$h10 $$h11 $$h12 $$h13
.reg write $$o2 $$o3 $$o4 $$o5 $$o6 $$o7 $$o8 $$o9 $$o10 $$o11 $$o12 $$o13
.xfer_order $$o2 $$o3 $$o4 $$o5 $$o6 $$o7 $$o8 $$o9 $$o10 $$o11 $$o12 $$o13
#else
#define HEADER_QUADWORDS 4
.reg read $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9
.xfer_order $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9
.reg write $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
.xfer_order $$o2 $$o3 $$o4 $$o5 $$o6 $$o7
#endif

.reg read $handle $sequence
.xfer_order $handle $sequence
.reg read $length $input
.xfer_order $length $input
.reg read $entry $next
#if (QUEUE_MANAGERS > 1)
.reg read $next_1
.xfer_order $next $next_1
#endif
.reg $key0 $key1 $key2 $key3
.xfer_order $key0 $key1 $key2 $key3
.reg read $flow0 $flow1 $flow2 $flow3 $flow4 $flow5 $flow6 $flow7
.xfer_order $flow0 $flow1 $flow2 $flow3 $flow4 $flow5 $flow6 $flow7
.reg read $hop0 $hop1 $hop2 $hop3
.xfer_order $hop0 $hop1 $hop2 $hop3
.reg write $output $next_hop $stamp
.xfer_order $output $next_hop $stamp
.reg write $slot0 $slot1 $slot2
.xfer_order $slot0 $slot1 $slot2
.reg write $exception
.reg $packets $octets

.sig volatile take
.sig volatile rung
.sig got read fetched counted0 counted1 written noted handed

; Shared by the contexts: whether packets are arriving (take.uc), the number that the
; queue manager was last seen to expect, and whether a context reads it (hand_over.uc).
.reg @busy @window @asking

.reg processing_ring
.reg route_root next_hops classes port_counters ip_counters
.reg flow_table slots next_slot ones ttl_step

    immed[processing_ring, PROCESSING_RING]
    load_constant(route_root, ROUTE_ROOT)
    load_constant(next_hops, NEXT_HOPS)
    load_constant(classes, DSCP_CLASSES)
    load_constant(flow_table, FLOW_TABLE)
    load_constant(port_counters, PORT_COUNTERS)
    load_constant(ip_counters, IP_COUNTERS)
    load_constant(slots, SEQUENCE_SLOTS)
    load_constant(next_slot, NEXT_SLOT)
    load_constant(ones, 0xffff)
    load_constant(ttl_step, 0xfeff)
    extension_set_up()
    br!=ctx[0, packet#]
    immed[@busy, 0]
    immed[@window, FIRST_SEQUENCE]
    immed[@asking, 0]
    ethernet_set_up()
    turn_start(take)

packet#:
.begin
    .reg handle sequence meta buffer stamp length input verdict
    .reg place source destination total class hop queue port_out

    ring_take($handle, processing_ring, 2, take, (0x80 | (&take << 3)), got, @busy, slow#)
taken#:
    alu[handle, --, B, $handle]
    beq[nothing#]
    alu[sequence, --, B, $sequence]
    time_now(stamp)

    ; Read the metadata and the link-layer header in parallel.
    metadata_address(meta, handle)
    sram[read, $length, meta, META_LENGTH, 2], sig_done[fetched]
    buffer_address(buffer, handle)
    dram[read, $$e0, buffer, 0, 2], sig_done[read]
    ctx_arb[fetched, read]
    alu[length, --, B, $length]
    alu[input, --, B, $input]
    statistics_begin(place, input, length, PORT_IN_PACKETS, $packets, $octets, counted0, counted1)
    ctx_arb[counted0, counted1]
    statistics_end(place, length, $packets, $octets)

    ethernet_classify(input, verdict)
    statistics_received()
    dram[read, $$h2, buffer, 8, HEADER_QUADWORDS], ctx_swap[read]
    ipv4_check(length, total, source, destination, verdict)
    source_check(source, verdict)
    classify(class, source, destination)
    route_lookup(hop, destination, route_root, $entry, fetched)
    ipv4_next_hop(hop, total, port_out, verdict)

    extension_forward(buffer, port_out, total, written)
    alu_shf[queue, class, OR, port_out, <<CLASS_SHIFT]
    alu_shf[$output, queue, OR, port_out, <<24]
    alu[$next_hop, --, B, hop]
    alu[$stamp, --, B, stamp]
    sram[write, $output, meta, META_OUTPUT, 3], sig_done[noted]
    statistics_forwarded()
    extension_finish()

    hand_over_room(sequence)
    hand_over(sequence, queue, handle, length)
    br[packet#]

exception#:
    ; To the slow path: reason and buffer handle.
    alu_shf[$exception, handle, OR, verdict, <<24]
    br_inp_state[EXCEPTION_RING_STATUS, slow_path_busy#]
    immed[place, EXCEPTION_RING]
    scratch[put, $exception, place, 0, 1], ctx_swap[noted]
    br[skip#]

slow_path_busy#:
    immed[verdict, DROP_SLOW_PATH_FULL]
drop#:
    scratch[incr, --, verdict, 0]
    load_constant(place, FREE_BUFFERS)
    buffer_return(handle, place)

skip#:
    hand_over_room(sequence)
    hand_over_nothing(sequence)
    br[packet#]

nothing#:
    br[packet#], defer[1]
    immed[@busy, 0]
slow#:
    ring_wait($handle, processing_ring, 2, take, (0x80 | (&take << 3)), got, rung, @busy, taken#)
.end
