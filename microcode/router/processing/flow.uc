; Flows: the five-tuple determines the class of service if FLOW_TABLE contains it,
; otherwise the DSCP does.
;
; The table has FLOW_BUCKETS buckets of two entries. An entry is four longwords:
; source, destination, source port << 16 | destination port, and FLOW_VALID |
; class << 8 | protocol. The hash unit's 128-bit hash of source, destination,
; ports and protocol selects the bucket.

#ifndef FLOW_UC
#define FLOW_UC

#define FLOW_VALID_BIT 31

; flow_key(source, destination, ports, $key0, $key1, $key2, $key3)
;   ports and $key0 to $key3 <- the ports and the five-tuple of the packet in $$h5 to $$h9. Only the
;   first fragment of a TCP or UDP datagram has ports.
#macro flow_key(source, destination, ports, key0, key1, key2, key3)
.begin
    .reg protocol fragment
    alu[key0, --, B, source]
    alu[key1, --, B, destination]
    alu[protocol, $$h5, AND, 0xff]
    alu[key3, --, B, protocol]
    alu_shf[fragment, --, B, $$h5, <<3]
    alu_shf[fragment, --, B, fragment, >>19]
    bne[portless#], defer[1]
    immed[ports, 0]
    alu[--, protocol, -, 6]
    beq[ports#]
    alu[--, protocol, -, 17]
    bne[portless#]
ports#:
    extension_ports(ports)
portless#:
    alu[key2, --, B, ports]
.end
#endm

; flow_match(at0, at1, at2, at3, source, destination, ports, protocol, class)
;   Branches to hit# with the entry's class if it matches the packet, else continues.
#macro flow_match(at0, at1, at2, at3, source, destination, ports, protocol, class)
.begin
    .reg kind
    alu[--, source, XOR, at0]
    bne[other#]
    alu[--, destination, XOR, at1]
    bne[other#]
    alu[--, ports, XOR, at2]
    bne[other#]
    ld_field_w_clr[kind, 0001, at3]
    alu[--, kind, XOR, protocol]
    bne[other#]
    br_bset[at3, FLOW_VALID_BIT, hit#], defer[1]
    alu_shf[class, 0xff, AND, at3, >>8]
other#:
.end
#endm

#endif
