; driver.uc: context 0 does to PACKET_COUNT packets, one after the other, what the
; processing stage does to them between their arrival in DRAM and their hand-over,
; but for the choice of a next hop.
;
; A packet's record at PACKETS, 256 bytes:
;     0  length of the frame; then the outcome: 0 forwarded, else the reason of
;        EXCEPTION_* or 0x100 + that of DROP_*
;     4  not 0: STATE is set before the packet
;    32  16 longwords of STATE to be set; then as they stand after the packet
;   128  the packet buffer with the frame

#include "constant.uc"
#include "checksum.uc"
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

; Nothing is handed over, so there is always room.
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
.reg read $hop3
.reg $state0 $state1 $state2 $state3
.xfer_order $state0 $state1 $state2 $state3
.sig fetched read written rung
.reg ones ttl_step sequence record left state

    br!=ctx[0, rest#]
    load_constant(ones, 0xffff)
    load_constant(ttl_step, 0xfeff)
    load_constant(record, PACKETS)
    load_constant(left, PACKET_COUNT)
    load_constant(state, STATE)
    immed[sequence, 0]
    extension_set_up()
    STATE_SPACE[read, $hop3, state, 0, 1], ctx_swap[fetched]

packet#:
.begin
    .reg buffer length total source destination port_out verdict time
    dram[read, $$h2, record, 0, 1], ctx_swap[read]
    alu[length, --, B, $$h2]
    alu[--, --, B, $$h3]
    beq[as_it_is#]
    #define_eval CHUNK 0
    #while (CHUNK < 4)
    dram[read, $$h2, record, (32 + CHUNK * 16), 2], ctx_swap[read]
    alu[$state0, --, B, $$h2]
    alu[$state1, --, B, $$h3]
    alu[$state2, --, B, $$h4]
    alu[$state3, --, B, $$h5]
    STATE_SPACE[write, $state0, state, (CHUNK * 16), 4], ctx_swap[fetched]
    #define_eval CHUNK (CHUNK + 1)
    #endloop
as_it_is#:
    immed[port_out, 0]
    alu[buffer, record, +, 128]
    dram[read, $$h2, buffer, 8, 6], ctx_swap[read]
    ipv4_check(length, total, source, destination, verdict)
    alu_shf[time, 0xff, AND, $$h5, >>8]
    alu[--, time, -, 2]
    blo[exception#], defer[1]
    immed[verdict, EXCEPTION_TTL]
#ifdef RCP
    ; The router reads it beside the output port's state.
    rcp_rate_read(port_out)
    ctx_arb[rated]
    extension_forward(buffer, port_out, total, written)
    ctx_arb[written, kept]
#else
    extension_forward(buffer, port_out, total, written)
    ctx_arb[written]
#endif
    immed[verdict, 0]
drop#:
exception#:
    alu[$$o2, --, B, verdict]
    immed[$$o3, 0]
    dram[write, $$o2, record, 0, 1], ctx_swap[written]
    #define_eval CHUNK 0
    #while (CHUNK < 4)
    STATE_SPACE[read, $state0, state, (CHUNK * 16), 4], ctx_swap[fetched]
    alu[$$o2, --, B, $state0]
    alu[$$o3, --, B, $state1]
    alu[$$o4, --, B, $state2]
    alu[$$o5, --, B, $state3]
    dram[write, $$o2, record, (32 + CHUNK * 16), 2], ctx_swap[written]
    #define_eval CHUNK (CHUNK + 1)
    #endloop
    immed[length, 256]
    alu[record, record, +, length]
    alu[left, left, -, 1]
    bne[packet#]
.end
rest#:
    ctx_arb[kill]
