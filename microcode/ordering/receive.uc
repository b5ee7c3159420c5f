; Packets out of RBUF into the buffer of the context that takes them.
;
; With ONE_MPACKET an mpacket is a packet, or else it is dropped. Without it a
; context takes mpackets until the end of the packet, and no other may take any
; meanwhile: the including program keeps the others away.

#ifndef ORDERING_RECEIVE_UC
#define ORDERING_RECEIVE_UC

#include "rbuf.uc"
#include "context_memory.uc"

#define RECEIVE_NULL_BIT 9

; Mpackets that a buffer of 2 KB holds; their status fits a context's part of local
; memory.
#define MOST_MPACKETS (2048 / RBUF_ELEMENT_SIZE)
#if (!ONE_MPACKET && MOST_MPACKETS > 16)
#error "packets of several mpackets need RBUF elements of at least 128 bytes"
#endif

; Parts of 64 bytes in an RBUF element.
#define RBUF_PARTS (RBUF_ELEMENT_SIZE / 64)

.reg read $status $checksum             ; pushed by the media interface
.xfer_order $status $checksum
.sig volatile arrived
.sig moved
.reg ticket

; packet_take(count, status)
;   Takes the mpackets of the next packet: count <- how many, 0 when the media
;   interface had none in time; status <- that of the last one. The others stand in
;   local memory.
#macro packet_take(count, status)
#if (ONE_MPACKET)
    receive_request(ticket, arrived)
    ctx_arb[arrived]
    .set $status $checksum
    alu[status, --, B, $status]
    alu_shf[count, 1, AND~, status, >>RECEIVE_NULL_BIT]
#else
.begin
    .reg place element
    context_memory(place)
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    immed[count, 0]
next#:
    receive_request(ticket, arrived)
    ctx_arb[arrived]
    .set $status $checksum
    alu[status, --, B, $status]
    br_bset[status, RECEIVE_NULL_BIT, nothing#]
    alu[--, count, -, MOST_MPACKETS]
    bhs[surplus#]
    alu[*l$index0++, --, B, status]
    alu[count, count, +, 1]
    br_bclr[status, RECEIVE_EOP_BIT, next#]
    br[taken#]
surplus#:
    ; A frame that no buffer holds: what comes behind is let go.
    alu_shf[element, 0x7f, AND, status, >>24]
    receive_free(element)
    immed[count, (MOST_MPACKETS + 1)]
    br_bclr[status, RECEIVE_EOP_BIT, next#]
    br[taken#]
nothing#:
    ; In the middle of a packet the rest is waited for.
    alu[--, --, B, count]
    bne[next#]
taken#:
.end
#endif
#endm

; packet_parts(parts, count, status)
;   parts <- how many elements of TBUF a packet needs whose mpackets packet_take took.
#macro packet_parts(parts, count, status)
#if (RBUF_PARTS == 1)
    alu[parts, --, B, count]
#else
.begin
    .reg last
    alu_shf[last, 0xff, AND, status, >>16]
#if (RBUF_ELEMENT_SIZE == 256)
    bne[some#]
    immed[last, 256]
some#:
#endif
    alu[last, last, +, 63]
    alu_shf[last, --, B, last, >>6]
    alu[parts, count, -, 1]
#if (RBUF_PARTS == 4)
    alu_shf[parts, --, B, parts, <<2]
#else
    alu_shf[parts, --, B, parts, <<1]
#endif
    alu[parts, parts, +, last]
.end
#endif
#endm

; mpacket_store(place, bytes, status)
;   Moves an mpacket to DRAM at `place` and frees its element; place and bytes grow
;   by what it has.
#macro mpacket_store(place, bytes, status)
#if (RBUF_PARTS == 1)
.begin
    .reg element now
    alu_shf[now, 0xff, AND, status, >>16]
    alu_shf[element, 0x7f, AND, status, >>24]
    receive_store(element, now, place, moved)
    receive_free(element)
    alu[place, place, +, now]
    alu[bytes, bytes, +, now]
.end
#else
.begin
    .reg element part left now
    alu_shf[left, 0xff, AND, status, >>16]
#if (RBUF_ELEMENT_SIZE == 256)
    bne[some#]
    immed[left, 256]
some#:
#endif
    alu[bytes, bytes, +, left]
    alu_shf[element, 0x7f, AND, status, >>24]
#ifdef __IXP28XX
    alu[part, --, B, element]
#elif (RBUF_PARTS == 4)
    alu_shf[part, --, B, element, <<2]
#else
    alu_shf[part, --, B, element, <<1]
#endif
more#:
    alu[--, left, -, 65]
    bhs[whole#], defer[1]
    immed[now, 64]
    alu[now, --, B, left]
whole#:
    receive_store(part, now, place, moved)
    alu[place, place, +, now]
    alu[part, part, +, 1]
    alu[left, left, -, now]
    bne[more#]
    receive_free(element)
.end
#endif
#endm

; packet_store(length, count, status, buffer, verdict, bad)
;   Moves the mpackets that packet_take took to `buffer`: length <- bytes of the
;   packet. Goes to bad# with a verdict when it is not whole.
#macro packet_store(length, count, status, buffer, verdict, bad)
.begin
    .reg place
    alu[place, --, B, buffer]
    immed[length, 0]
#if (ONE_MPACKET)
    mpacket_store(place, length, status)
    br_bset[status, RECEIVE_ERROR_BIT, error#], defer[1]
    immed[verdict, DROP_RECEIVE_ERROR]
    alu_shf[place, 3, AND~, status, >>RECEIVE_EOP_BIT]  ; SOP stands above EOP
    beq[whole#], defer[1]
    immed[verdict, DROP_LENGTH]
error#:
    ; A frame counts once, at its first mpacket.
    br_bset[status, RECEIVE_SOP_BIT, bad]
    br[bad], defer[1]
    immed[verdict, LATER_MPACKETS]
whole#:
#else
.begin
    .reg left errors
    context_memory(left)
    local_csr_wr[ACTIVE_LM_ADDR_0, left]
    immed[errors, 0]
    alu[left, --, B, count]
    alu[--, left, -, (MOST_MPACKETS + 1)]
    bne[next#], defer[1]
    immed[verdict, DROP_LENGTH]

    ; Longer than a buffer: nothing of it is stored.
    alu[left, left, -, 1]
free#:
    alu[status, --, B, *l$index0++]
    alu_shf[status, 0x7f, AND, status, >>24]
    receive_free(status)
    alu[left, left, -, 1]
    bne[free#]
    br[bad]

next#:
    alu[status, --, B, *l$index0++]
    alu[errors, errors, OR, status]
    mpacket_store(place, length, status)
    alu[left, left, -, 1]
    bne[next#]
    br_bset[errors, RECEIVE_ERROR_BIT, bad], defer[1]
    immed[verdict, DROP_RECEIVE_ERROR]
.end
#endif
.end
#endm

#endif
