; Mpackets out of RBUF, for both chips.
;
; The receive status word, as the media interface pushes it:
;   30..24 element   23..16 bytes (0 = 256)   15 SOP   14 EOP   13 error
;    4..0  port (IXP2400, SPI-3)    7..0  port (IXP2800, SPI-4)
; The IXP2800 counts elements in units of 64 bytes whatever their size.

#ifndef RBUF_UC
#define RBUF_UC

#define RECEIVE_SOP_BIT   15
#define RECEIVE_EOP_BIT   14
#define RECEIVE_ERROR_BIT 13
#ifdef __IXP28XX
#define RECEIVE_PORT_MASK 0xff
#else
#define RECEIVE_PORT_MASK 0x1f
#endif

; receive_ticket(ticket, arrived, $status)
;   ticket <- the fast write that puts this context on RX_THREAD_FREELIST_0:
;   status goes to $status and the register after it, then `arrived` is raised.
;   Data half of the word: 15..12 signal, 11..7 microengine, 6..4 context, 3..0
;   transfer register. The microengine is its number on the IXP2800; on the
;   IXP2400 bit 9 is the cluster and 8..7 the place in it.
#macro receive_ticket(ticket, arrived, status)
.begin
    .reg who part
    local_csr_rd[ACTIVE_CTX_STS]
    immed[who, 0]
#ifdef __IXP28XX
    alu[part, who, AND, 0xff]                   ; context, microengine
    alu_shf[ticket, --, B, part, <<20]
#else
    alu[part, who, AND, 0x1f]                   ; context, microengine in cluster
    alu_shf[ticket, --, B, part, <<20]
    alu[part, who, AND, 0x80]                   ; cluster
    alu_shf[ticket, ticket, OR, part, <<18]
#endif
    immed[part, ((&arrived << 12) | &status)]
    alu_shf[ticket, ticket, OR, part, <<16]
    alu[ticket, ticket, OR, RX_THREAD_FREELIST_0]
.end
#endm

; receive_request(ticket, arrived)
;   Asks for the next mpacket.
#macro receive_request(ticket, arrived)
    msf[fast_wr, --, ticket, 0]
    .set_sig arrived
#endm

; receive_port(port, status)
;   port <- the port that the mpacket came in on.
#macro receive_port(port, status)
    alu[port, status, AND, RECEIVE_PORT_MASK]
#endm

; receive_store(element, bytes, address, done)
;   Moves `bytes` (1-64) of an RBUF element to DRAM at `address` (a multiple of
;   eight) and waits for it. `done` is a DRAM signal.
#macro receive_store(element, bytes, address, done)
.begin
    .reg override
    alu[override, bytes, -, 1]
    alu_shf[override, 0x10, OR, override, >>3]  ; bit 25 once shifted: count is overridden
    alu_shf[override, --, B, override, <<21]
    alu_shf[override, override, OR, element, <<11]
    alu[override, override, OR, 0x10]           ; RBUF address is overridden
    alu_shf[--, override, OR, 1, <<18]          ; the 0x2000 window
    dram[rbuf_rd, --, address, 0, max_8], indirect_ref, sig_done[done]
    ctx_arb[done]
.end
#endm

; receive_free(element)
;   Gives an RBUF element back to the media interface.
#macro receive_free(element)
.begin
    .reg freed
    alu_shf[freed, --, B, element, <<16]
    msf[fast_wr, --, freed, RBUF_ELEMENT_DONE]
.end
#endm

#endif
