; Link layer: the type of a frame, and whether it is addressed to this router.

#ifndef ETHERNET_UC
#define ETHERNET_UC

; A port's record in local memory, 16 bytes at port * 16.
#define OWN_ADDRESS_HIGH 0  ; upper 32 bits of the port's own address
#define OWN_ADDRESS_LOW  1  ; lower 16 bits

; ethernet_set_up()
;   Fills the ports' records. To be run once, by one context.
#macro ethernet_set_up()
.begin
    .reg record value
    immed[record, 0]
#define_eval N 0
#while (N < PORT_COUNT)
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[record, record, +, 16]
    immed[value, (PORT/**/N/**/_MAC_LO & 0xffff)]
    nop
    alu[*l$index0[OWN_ADDRESS_LOW], --, B, value]
    load_constant(value, PORT/**/N/**/_MAC_HI)
    alu[*l$index0[OWN_ADDRESS_HIGH], --, B, value]
#define_eval N (N + 1)
#endloop
.end
#endm

; ethernet_classify(input, verdict)
;   Continues if the frame whose first longwords are $$e0 to $$e3 is IPv4 for the
;   router's address on port `input`; branches to exception# otherwise.
#macro ethernet_classify(input, verdict)
.begin
    .reg record type wanted
    alu_shf[record, --, B, input, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu_shf[type, --, B, $$e3, >>16]
    immed[wanted, 0x0800]
    alu[--, type, -, wanted]
    bne[exception#], defer[1]
    immed[verdict, EXCEPTION_NOT_IPV4]
    br_bset[$$e0, 24, exception#], defer[1]
    immed[verdict, EXCEPTION_LINK_GROUP]
#ifndef ACCEPT_ANY_MAC
    alu[--, $$e0, XOR, *l$index0[OWN_ADDRESS_HIGH]]
    bne[exception#], defer[1]
    immed[verdict, EXCEPTION_NOT_FOR_US]
    alu_shf[wanted, --, B, $$e1, >>16]
    alu[--, wanted, XOR, *l$index0[OWN_ADDRESS_LOW]]
    bne[exception#]
#endif
.end
#endm

#endif
