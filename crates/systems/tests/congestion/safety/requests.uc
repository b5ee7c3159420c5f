; requests.uc: every context goes through a list of Quick-Start requests of its own,
; makes them as the router does, and writes down what it saw and what it got.
;
; A request, 16 bytes at REQUESTS:
;   0  before: code, group << 4, cycles / 16 to wait first << 16; code 0 asks for
;      nothing. After: 1 << 31, phase << 16, granted << 8, code.
;   1  the limit that it found
;   2  the counter of phase 0 that it found; with QUICK_START_ATOMIC nothing
;   3  the counter of phase 8; with QUICK_START_ATOMIC the counter that it added to

#include "constant.uc"
#include "context_number.uc"
#include "timer.uc"
#include "quick_start.uc"

; The router around the protocol.
#macro hand_over_room(sequence)
#endm

.num_contexts 8

.reg read $asked
.reg write $noted0 $noted1 $noted2 $noted3
.xfer_order $noted0 $noted1 $noted2 $noted3
.sig fetched noted rung
.reg place left number

    extension_set_up()
    context_number(number)
    load_constant(place, REQUESTS)
    alu_shf[number, --, B, number, <<LIST_SHIFT]
    alu[place, place, +, number]
    load_constant(left, LIST)

again#:
.begin
    .reg asked gap requested granted port_out note
    sram[read, $asked, place, 0, 1], ctx_swap[fetched]
    alu[asked, --, B, $asked]
    alu_shf[gap, --, B, asked, >>16]
    beq[now#]
    timer_wait(gap, rung)
now#:
    alu[requested, asked, AND, 0xf]
    beq[next#], defer[1]
    alu_shf[port_out, 0xf, AND, asked, >>4]
    quick_start_grant(granted, requested, port_out)
    alu_shf[note, requested, OR, granted, <<8]
    alu_shf[note, note, OR, $share1, <<16]
    alu_shf[asked, --, B, 1, <<31]
    alu[$noted0, note, OR, asked]
    alu[$noted1, --, B, $share0]
#ifdef QUICK_START_LOCK
    alu[$noted2, --, B, $share2]
#else
    immed[$noted2, 0]
#endif
    alu[$noted3, --, B, $share4]
    sram[write, $noted0, place, 0, 4], ctx_swap[noted]
.end
next#:
    alu[place, place, +, 16]
    alu[left, left, -, 1]
    bne[again#]
    ctx_arb[kill]
