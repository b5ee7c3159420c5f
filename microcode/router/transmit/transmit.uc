; transmit.uc: the transmit stage. Eight contexts of one microengine.
;
; Takes packets off TX_RING in order. The context whose turn it is claims as
; many consecutive TBUF elements as its packet needs, and passes the turn; elements
; are then filled in parallel. The transmitter sends them strictly in order, so
; packets leave in the order of the ring.
;
; The first eight bytes of the frame, the next hop's address and the first part
; of the port's own, are prepended to the rest, which comes from DRAM. With
; DELAY_STAMP the port's address begins instead with the time since processing of
; the packet began, in steps of 16 cycles, modulo 2^16.
;
; A project with a CORE_RING has packets from the general-purpose core on it: port and
; buffer. They already have their Ethernet header, bypass the queues, and precede those
; of TX_RING: the core takes far longer to make one than a context takes to send it.

#include "constant.uc"
#include "turn.uc"
#include "tbuf.uc"
#include "buffer.uc"
#include "timer.uc"
#include "../router.uc"
#ifdef CORE_RING
#define TAKES_CORE
#endif
#include "../take.uc"
#include "../processing/statistics.uc"

; The number of elements claimed but not yet sent stays below this, and so below the
; number there are: a full cycle of the eight-bit counters is never mistaken for none.
#define IN_FLIGHT_LIMIT 120

; Bytes of the frame that do not come from DRAM.
#define PREPENDED 8

.num_contexts 8

.reg read $packet $length
.xfer_order $packet $length
.reg read $next_hop $stamp
.xfer_order $next_hop $stamp
.reg read $hop1 $hop2
.xfer_order $hop1 $hop2
.reg read $sequence
.reg write $h0 $h1
.xfer_order $h0 $h1
.reg write $control0 $control1
.xfer_order $control0 $control1
.reg $packets $octets
#ifdef CORE_RING
.reg read $$first0 $$first1
.xfer_order $$first0 $$first1
#endif

.sig volatile ask claim
.sig volatile rung
.sig volatile valid
.sig got filled begun counted0 counted1

; Shared by the contexts: elements claimed and elements known to be sent, both
; free-running counts; differences are taken modulo 256.
.reg @claimed @sent @busy

.reg free_queue tx_ring tx_sequence next_hops port_counters context

    load_constant(free_queue, FREE_BUFFERS)
    immed[tx_ring, TX_RING]
    immed[tx_sequence, TX_SEQUENCE_0]
    load_constant(next_hops, NEXT_HOPS)
    load_constant(port_counters, PORT_COUNTERS)
    ; Raise `valid`: there is no earlier write of control words to wait for.
    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    alu[context, context, OR, (&valid << 3)]
    local_csr_wr[SAME_ME_SIGNAL, context]
    .set_sig valid

    br!=ctx[0, transmit#]
    immed[@claimed, 0]
    immed[@sent, 0]
    immed[@busy, 0]
    turn_start(claim)
    turn_start(ask)

transmit#:
.begin
    .reg handle port length hop now count element in_flight bytes control
    .reg address place at meta
#ifdef CORE_RING
    ; First eight bytes of a frame from the core; `own` is 1 for such a frame.
    .reg own first second
    .set first second
#endif

    ring_take($packet, tx_ring, 2, ask, (0x80 | (&ask << 3)), got, @busy, slow#)
taken#:
    ld_field_w_clr[handle, 0111, $packet], load_cc
    beq[nothing#]
    alu_shf[port, --, B, $packet, >>24]
    alu[length, --, B, $length]
#ifdef CORE_RING
    immed[own, 0]
sized#:
#endif
    metadata_address(meta, handle)
    sram[read, $next_hop, meta, META_NEXT_HOP, 2], sig_done[got]
    alu[count, length, +, 63]
    alu_shf[count, --, B, count, >>6]

    ctx_arb[claim]
room#:
    alu[in_flight, @claimed, -, @sent]
    alu[in_flight, in_flight, AND, 0xff]
    alu[in_flight, in_flight, +, count]
    alu[--, in_flight, -, IN_FLIGHT_LIMIT]
    bhs[full#]
    alu[element, --, B, @claimed]
    alu[@claimed, element, +, count]
    turn_pass(claim)
    alu[element, element, AND, (TBUF_ELEMENTS - 1)]

    ; The first element: eight prepended bytes, up to 56 from DRAM.
    buffer_address(address, handle)
    alu[address, address, +, PREPENDED]
    alu_shf[control, port, OR, 1, <<TRANSMIT_SOP_BIT]
    alu[--, length, -, 65]
    bhs[long#], defer[1]
    immed[bytes, (64 - PREPENDED)]
    alu[bytes, length, -, PREPENDED]
long#:
    transmit_fill_after(element, bytes, address, filled, PREPENDED)
    alu_shf[control, control, OR, PREPENDED, <<TRANSMIT_PREPEND_SHIFT]
    ctx_arb[got]
    alu_shf[hop, --, B, $next_hop, <<4]
    alu[hop, hop, +, 4]
    sram[read, $hop1, next_hops, hop, 2], sig_done[got]
    statistics_begin(at, port, length, PORT_OUT_PACKETS, $packets, $octets, counted0, counted1)
    ctx_arb[got, counted0, counted1]
#ifdef CORE_RING
    alu[--, --, B, own]
    bne[own#]
#endif
    alu[$h0, --, B, $hop1]
#ifdef DELAY_STAMP
    time_now(now)
    alu[now, now, -, $stamp]
    ld_field_w_clr[place, 1100, $hop2]
    ld_field[place, 0011, now]
    alu[$h1, --, B, place]
#else
    alu[$h1, --, B, $hop2]
#endif
#ifdef CORE_RING
headed#:
#endif
    transmit_begin(element, $h0, begun)
    statistics_end(at, length, $packets, $octets)
    alu[address, address, +, bytes]
    alu[length, length, -, bytes]
    alu[length, length, -, PREPENDED]
    bne[open#]
    alu_shf[control, control, OR, 1, <<TRANSMIT_EOP_BIT]
open#:
    alu_shf[control, control, OR, bytes, <<24]
    ctx_arb[filled, begun, valid]
    transmit_send(element, $control0, $control1, control, valid)
    alu[--, --, B, length]
    bne[mpacket#]
    buffer_return(handle, free_queue)
    br[transmit#]

mpacket#:
    ; 64 bytes, or the rest of the frame; EOP with the last element.
    alu[element, element, +, 1]
    alu[element, element, AND, (TBUF_ELEMENTS - 1)]
    alu[control, --, B, port]
    alu[--, length, -, 65]
    bhs[more#], defer[1]
    immed[bytes, 64]
    alu[bytes, --, B, length]
    alu_shf[control, control, OR, 1, <<TRANSMIT_EOP_BIT]
more#:
    alu_shf[control, control, OR, bytes, <<24]
    transmit_fill_after(element, bytes, address, filled, 0)
    ctx_arb[filled, valid]
    transmit_send(element, $control0, $control1, control, valid)
    alu[address, address, +, bytes]
    alu[length, length, -, bytes]
    bne[mpacket#]
    buffer_return(handle, free_queue)
    br[transmit#]

full#:
    msf[read, $sequence, tx_sequence, 0, 1], ctx_swap[begun]
    alu[@sent, --, B, $sequence]
    br[room#]

nothing#:
    immed[@busy, 0]
    ctx_arb[claim]
    turn_pass(claim)
    br[transmit#]

#ifdef CORE_RING
own#:
    alu[$h0, --, B, first]
    br[headed#], defer[1]
    alu[$h1, --, B, second]

core#:
    ; The context holds the turn `ask` here.
    immed[place, CORE_RING]
    scratch[get, $packet, place, 0, 1], ctx_swap[got]
    immed[place, (0x80 | (&ask << 3))]
    local_csr_wr[SAME_ME_SIGNAL, place]
    .set_sig ask
    ld_field_w_clr[handle, 0111, $packet], load_cc
    beq[nothing#]
    alu_shf[port, --, B, $packet, >>24]
    metadata_address(meta, handle)
    sram[read, $length, meta, META_LENGTH, 1], ctx_swap[got]
    alu[length, --, B, $length]
    buffer_address(address, handle)
    dram[read, $$first0, address, 0, 1], ctx_swap[filled]
    alu[first, --, B, $$first0]
    alu[second, --, B, $$first1]
    br[sized#], defer[1]
    immed[own, 1]
#endif

slow#:
    ring_wait($packet, tx_ring, 2, ask, (0x80 | (&ask << 3)), got, rung, @busy, taken#)
.end
