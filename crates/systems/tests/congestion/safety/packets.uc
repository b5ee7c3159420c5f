; packets.uc: every context goes through a list of packets of its own, and does with
; each what the router's processing stage does for the congestion control protocol
; that is defined. Frames are in DRAM, 64 bytes each. Longwords at NOTES, one a
; packet: cycles / 16 to wait first << 16 before; 1 << 31 and, with TICKETS, which
; one it was in its critical section after.

#include "constant.uc"
#include "context_number.uc"
#include "timer.uc"
#include "../router/router.uc"

.num_contexts 8

.reg read $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9 $$h10 $$h11 $$h12 $$h13
.xfer_order $$h2 $$h3 $$h4 $$h5 $$h6 $$h7 $$h8 $$h9 $$h10 $$h11 $$h12 $$h13
.reg write $$o2 $$o3 $$o4 $$o5 $$o6 $$o7 $$o8 $$o9 $$o10 $$o11 $$o12 $$o13
.xfer_order $$o2 $$o3 $$o4 $$o5 $$o6 $$o7 $$o8 $$o9 $$o10 $$o11 $$o12 $$o13
.reg read $noted $entry
.reg write $note
.sig fetched got written noted rung
.reg ones ttl_step sequence
#ifdef TICKETS
.reg read $ticket
.sig ticketed
#endif

; The router around the protocol.
#macro hand_over_room(sequence)
#endm

#macro ipv4_rewrite(step)
    alu[$$o2, --, B, $$h2]
    alu[$$o3, --, B, $$h3]
    alu[$$o4, --, B, $$h4]
    alu[$$o5, --, B, $$h5]
    alu[$$o6, --, B, $$h6]
    alu[$$o7, --, B, $$h7]
#endm

#include "../router/processing/extension.uc"

.reg buffer place left number

    load_constant(ones, 0xffff)
    immed[ttl_step, 0]
    immed[sequence, 0]
    context_number(number)
    alu_shf[place, --, B, number, <<LIST_LOG]
    load_constant(buffer, FRAMES)
    alu_shf[left, --, B, place, <<6]
    alu[buffer, buffer, +, left]
    alu_shf[left, --, B, place, <<2]
    load_constant(place, NOTES)
    alu[place, place, +, left]
    immed[left, 1]
    alu_shf[left, --, B, left, <<LIST_LOG]
    extension_set_up()
#ifdef TICKETS
    ; A packet that needs no lock takes none.
    sram[read, $ticket, place, 0, 1], ctx_swap[fetched]
#endif

again#:
.begin
    .reg total gap note port_out stamp
    sram[read, $noted, place, 0, 1], ctx_swap[fetched]
    alu_shf[gap, --, B, $noted, >>16]
    beq[now#]
    timer_wait(gap, rung)
now#:
    time_now(stamp)
    dram[read, $$h2, buffer, 8, 6], ctx_swap[got]
    alu_shf[total, --, B, $$h4, >>16]
    immed[port_out, 0]
    extension_port_state(place, 0, port_out)
    extension_forward(buffer, port_out, total, written)
    ; In place of the packet's metadata.
    alu[$note, --, B, $noted]
    sram[write, $note, place, 0, 1], sig_done[noted]
    extension_finish()
    alu_shf[note, --, B, 1, <<31]
#ifdef TICKETS
    alu[$note, note, OR, $ticket]
#else
    alu[$note, --, B, note]
#endif
    sram[write, $note, place, 0, 1], ctx_swap[fetched]
.end
    alu[place, place, +, 4]
    alu[buffer, buffer, +, 64]
    alu[left, left, -, 1]
    bne[again#]
    ctx_arb[kill]
