; Pacing in the router's processing stage: the flow's number goes to the pacer
; in the place of the class of service, and of TCP the number that the flow's record
; needs (pacing.uc). classify.uc has left the bucket of the flow in $flow0 to $flow7.

#include "pacing.uc"

; Marks of an entry of the flow table (flow.uc).
#define FLOW_NUMBER_SHIFT 16
#define FLOW_NUMBER_BITS  14
#define FLOW_REVERSE_BIT  30

#define PROTOCOL_TCP 6
#define TCP_ACK_BIT  4

.reg write $number
.sig told

#macro extension_set_up()
#endm

; tell(meta, value)
;   The packet's number for the pacer.
#macro tell(meta, value)
    alu[$number, --, B, value]
    sram[write, $number, meta, META_SEQUENCE, 1], ctx_swap[told]
#endm

#macro extension_forward(buffer, port_out, total, done)
.begin
    .reg mark
    ipv4_rewrite(ttl_step)
    dram[write, $$o2, buffer, 8, 3], sig_done[done]
.begin
    .reg ports protocol
    flow_key(source, destination, ports, $key0, $key1, $key2, $key3)
    alu[protocol, $$h5, AND, 0xff]
    alu[mark, --, B, $flow3]
    flow_match($flow0, $flow1, $flow2, $flow3, source, destination, ports, protocol, class)
    alu[mark, --, B, $flow7]
    flow_match($flow4, $flow5, $flow6, $flow7, source, destination, ports, protocol, class)
    immed[mark, 0]
hit#:
.end

.begin
    .reg number protocol header payload value
    ; The number; what is above it is not part of it.
    alu_shf[number, --, B, mark, <<(32 - FLOW_NUMBER_SHIFT - FLOW_NUMBER_BITS)]
    alu_shf[number, --, B, number, >>(32 - FLOW_NUMBER_BITS)]
    beq[stranger#], defer[1]
    alu_shf[class, --, B, number, <<FLOW_SHIFT]
    alu[protocol, $$h5, AND, 0xff]
    alu[--, protocol, -, PROTOCOL_TCP]
    bne[other#]

    ; TCP: bytes of data, and the sequence number behind them or, of the opposite
    ; direction, the acknowledgement.
    alu_shf[header, 0xf, AND, $$h11, >>12]
    alu_shf[header, --, B, header, <<2]
    alu[payload, total, -, 20]
    alu[payload, payload, -, header]
    br_bset[mark, FLOW_REVERSE_BIT, back#]
    alu[--, --, B, payload]
    beq[paced#]
    alu_shf[value, --, B, $$h9, <<16]
    alu_shf[value, value, OR, $$h10, >>16]
    alu[value, value, +, payload]
    br[tcp#], defer[1]
    alu[class, class, OR, (1 << KIND_TCP_BIT)]

back#:
    ; Pure acknowledgements are not paced; with data one indicates no loss.
    alu[--, --, B, payload]
    bne[stranger#]
    br_bclr[$$h11, TCP_ACK_BIT, stranger#]
    alu_shf[value, --, B, $$h10, <<16]
    alu_shf[value, value, OR, $$h11, >>16]
    alu[class, class, OR, (1 << KIND_ACKNOWLEDGES_BIT)]
tcp#:
    tell(meta, value)
    br[paced#]

other#:
    br_bclr[mark, FLOW_REVERSE_BIT, paced#]
stranger#:
    immed[class, 0]
paced#:
.end
.end
#endm
