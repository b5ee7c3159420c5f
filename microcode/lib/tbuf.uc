; Mpackets into TBUF, for both chips.
;
; The transmit control word: 31..24 bytes, 20..16 prepended bytes, 9 SOP, 8 EOP, and the port in 4..0 on
; the IXP2400 (SPI-3), 7..0 on the IXP2800 (SPI-4). SPI-4 sends all but the last
; part of a frame in multiples of sixteen bytes.

#ifndef TBUF_UC
#define TBUF_UC

#define TRANSMIT_SOP_BIT 9
#define TRANSMIT_EOP_BIT 8
#define TRANSMIT_PREPEND_SHIFT 16
#define TBUF_ELEMENTS    128

; transmit_fill(element, bytes, address, done)
;   Moves `bytes` (1-64) from DRAM at `address` (a multiple of eight) to a TBUF
;   element and waits for it. `done` is a DRAM signal.
#macro transmit_fill(element, bytes, address, done)
.begin
    .reg override
    alu[override, bytes, -, 1]
    alu_shf[override, 0x10, OR, override, >>3]  ; bit 25 once shifted: count is overridden
    alu_shf[override, --, B, override, <<21]
    alu_shf[override, override, OR, element, <<11]
    alu[override, override, OR, 0x10]           ; TBUF address is overridden
    alu_shf[--, override, OR, 1, <<18]          ; the 0x2000 window
    dram[tbuf_wr, --, address, 0, max_8], indirect_ref, sig_done[done]
    ctx_arb[done]
.end
#endm

; transmit_begin(element, $first, done)
;   Writes $first and the register after it to the start of a TBUF element.
;   Raises `done`.
#macro transmit_begin(element, first, done)
.begin
    .reg place base
    immed[base, 0x2000]
    alu_shf[place, --, B, element, <<6]
    msf[write, first, base, place, 2], sig_done[done]
.end
#endm

; transmit_fill_after(element, bytes, address, done, offset)
;   As transmit_fill, to `offset` (a constant multiple of eight) in the element,
;   without waiting.
#macro transmit_fill_after(element, bytes, address, done, offset)
.begin
    .reg override
    alu[override, bytes, -, 1]
    alu_shf[override, 0x10, OR, override, >>3]  ; bit 25 once shifted: count is overridden
    alu_shf[override, --, B, override, <<21]
    alu_shf[override, override, OR, element, <<11]
    alu_shf[override, override, OR, (offset / 8), <<8]
    alu[override, override, OR, 0x10]           ; TBUF address is overridden
    alu_shf[--, override, OR, 1, <<18]          ; the 0x2000 window
    dram[tbuf_wr, --, address, 0, max_8], indirect_ref, sig_done[done]
.end
#endm

; transmit_validate(element, $control0, $control1, control, done)
;   Hands a filled element to the transmitter. `$control0` and `$control1`
;   are write transfer registers in this order; `control` is the control word.
#macro transmit_validate(element, control0, control1, control, done)
.begin
    .reg place base
    alu[control0, --, B, control]
    immed[control1, 0]
    immed[base, TBUF_ELEMENT_CONTROL_0]
    alu_shf[place, --, B, element, <<3]
    msf[write, control0, base, place, 2], ctx_swap[done]
.end
#endm

; transmit_send(element, $control0, $control1, control, done)
;   As transmit_validate, without waiting: the control registers may change when
;   `done` is raised.
#macro transmit_send(element, control0, control1, control, done)
.begin
    .reg place base
    alu[control0, --, B, control]
    immed[control1, 0]
    immed[base, TBUF_ELEMENT_CONTROL_0]
    alu_shf[place, --, B, element, <<3]
    msf[write, control0, base, place, 2], sig_done[done]
.end
#endm

; transmit_status(status, port, $level, done)
;   status <- how full the port's transmit FIFO is: 0 starving, 1 hungry, 2
;   satisfied. On the IXP2400 the bus asks for room itself: always 0 there.
;   `$level` is a read transfer register.
#macro transmit_status(status, port, level, done)
#ifdef __IXP28XX
.begin
    .reg base place
    immed[base, TX_PORT_STATUS_0]
    alu_shf[place, --, B, port, <<2]
    msf[read, level, base, place, 1], ctx_swap[done]
    alu[status, --, B, level]
.end
#else
    immed[status, 0]
#endif
#endm

#endif
