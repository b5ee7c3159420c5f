; driver.uc: context 0 does to PACKET_COUNT packets, one after the other, what the
; processing stage does to them between their arrival in DRAM and their hand-over,
; but for the choice of a next hop.
;
; A packet's record at PACKETS, 384 bytes:
;     0  length of the frame; then the outcome: 0 forwarded, else the reason of
;        EXCEPTION_* or 0x100 + that of DROP_*
;     4  not 0: the shared state is set before the packet
;     8  the output port
;    32  shared state to be set, as places.uc says; then as it stands after the packet
;   256  the packet buffer with the frame

#include "constant.uc"
#include "checksum.uc"
#include "router.uc"
#include "ipv4.uc"

#define EXCEPTION_OPTIONS    3
#define EXCEPTION_MULTICAST  4
#define EXCEPTION_LOCAL      5
#define EXCEPTION_NO_ROUTE   6
#define EXCEPTION_TTL        7
#define EXCEPTION_MTU        8
#define EXCEPTION_BAD_OPTION 10
#define DROP_LENGTH    0x101
#define DROP_VERSION   0x102
#define DROP_CHECKSUM  0x103
#define DROP_MARTIAN   0x104
#define DROP_DISCARD   0x105
#define DROP_PORT_DOWN 0x106

; No packet is handed over, so there is always room.
#macro hand_over_room(sequence)
#endm

#include "extension.uc"

.num_contexts 8

.reg read $$e0 $$e1 $$e2 $$e3
.xfer_order $$e0 $$e1 $$e2 $$e3
.reg read $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9 $$h10 $$h11 $$h12 $$h13
.xfer_order $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9 $$h10 $$h11 $$h12 $$h13
.reg write $$o2 $$o3 $$o4 $$o5 $$o6 $$o7 $$o8 $$o9 $$o10 $$o11 $$o12 $$o13
.xfer_order $$o2 $$o3 $$o4 $$o5 $$o6 $$o7 $$o8 $$o9 $$o10 $$o11 $$o12 $$o13
.reg read $hop3 $entry
.reg $state0 $state1 $state2 $state3 $state4 $state5 $state6 $state7
.xfer_order $state0 $state1 $state2 $state3 $state4 $state5 $state6 $state7
.sig fetched read written noted rung
.reg ones ttl_step sequence record left nothing

; state_to(space, address, count, at)
;   `count` longwords of shared state from the record's byte `at` on to `address`.
#macro state_to(space, address, count, at)
.begin
    .reg place
    load_constant(place, at)
    dram[read, $$h2, record, place, 4], ctx_swap[read]
    alu[$state0, --, B, $$h2]
    alu[$state1, --, B, $$h3]
    alu[$state2, --, B, $$h4]
    alu[$state3, --, B, $$h5]
    alu[$state4, --, B, $$h6]
    alu[$state5, --, B, $$h7]
    alu[$state6, --, B, $$h8]
    alu[$state7, --, B, $$h9]
    load_constant(place, address)
    space[write, $state0, place, 0, count], ctx_swap[fetched]
.end
#endm

; state_from(space, address, count, at)
;   The other way; longwords behind the last up to eight are written, too.
#macro state_from(space, address, count, at)
.begin
    .reg place
    load_constant(place, address)
    space[read, $state0, place, 0, count], ctx_swap[fetched]
    alu[$$o2, --, B, $state0]
    alu[$$o3, --, B, $state1]
    alu[$$o4, --, B, $state2]
    alu[$$o5, --, B, $state3]
    alu[$$o6, --, B, $state4]
    alu[$$o7, --, B, $state5]
    alu[$$o8, --, B, $state6]
    alu[$$o9, --, B, $state7]
    load_constant(place, at)
    dram[write, $$o2, record, place, 4], ctx_swap[written]
.end
#endm

; state_local(address, at)
;   The first two longwords at a place in the microengine's local memory.
#macro state_local(address, at)
.begin
    .reg place
    load_constant(place, address)
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    load_constant(place, at)
    nop
    nop
    alu[$$o2, --, B, *l$index0[0]]
    alu[$$o3, --, B, *l$index0[1]]
    dram[write, $$o2, record, place, 1], ctx_swap[written]
.end
#endm

#include "places.uc"

    br!=ctx[0, rest#]
    load_constant(ones, 0xffff)
    load_constant(ttl_step, 0xfeff)
    load_constant(record, PACKETS)
    load_constant(left, PACKET_COUNT)
    immed[sequence, 0]
    immed[nothing, 0]
    extension_set_up()
    sram[read, $hop3, nothing, 0, 1], ctx_swap[fetched]
    sram[read, $state0, nothing, 0, 8], ctx_swap[fetched]

packet#:
.begin
    .reg buffer length total source destination port_out verdict time stamp
    dram[read, $$h2, record, 0, 2], ctx_swap[read]
    alu[length, --, B, $$h2]
    alu[port_out, --, B, $$h4]
    alu[--, --, B, $$h3]
    beq[as_it_is#]
    state_set()
as_it_is#:
    time_now(stamp)
    immed[buffer, 256]
    alu[buffer, record, +, buffer]
    dram[read, $$h2, buffer, 8, 6], ctx_swap[read]
    ipv4_check(length, total, source, destination, verdict)
    alu_shf[time, 0xff, AND, $$h5, >>8]
    alu[--, time, -, 2]
    blo[exception#], defer[1]
    immed[verdict, EXCEPTION_TTL]
    extension_port_state(nothing, 0, port_out)
    extension_forward(buffer, port_out, total, written)
    ; In place of the packet's metadata.
    sram[read, $entry, nothing, 0, 1], sig_done[noted]
    extension_finish()
    immed[verdict, 0]
drop#:
exception#:
    alu[$$o2, --, B, verdict]
    immed[$$o3, 0]
    dram[write, $$o2, record, 0, 1], ctx_swap[written]
    state_get()
    immed[length, 384]
    alu[record, record, +, length]
    alu[left, left, -, 1]
    bne[packet#]
.end
rest#:
    ctx_arb[kill]
