; Packet buffers.
;
; A buffer is a descriptor in SRAM and room for a packet in DRAM. Its handle is
; the longword address of the descriptor, never 0; the DRAM address is the
; handle shifted by BUFFER_SHIFT. Free buffers stand on the Q-array queue
; FREE_BUFFERS. The project file makes all of this.

#ifndef BUFFER_UC
#define BUFFER_UC

; buffer_take(handle, queue, $link, done)
;   handle <- a free buffer, or 0 when there is none. `queue` is a register
;   that holds FREE_BUFFERS, $link a read transfer register.
#macro buffer_take(handle, queue, link, done)
    sram[dequeue, link, queue, 0], ctx_swap[done]
    ld_field_w_clr[handle, 0111, link]          ; without EOP and cell count
#endm

; buffer_return(handle, queue)
;   Puts a buffer back. No signal: the controller does it in its own time.
#macro buffer_return(handle, queue)
    sram[enqueue, --, queue, handle]
#endm

; buffer_address(address, handle)
;   address <- where the packet starts in DRAM.
#macro buffer_address(address, handle)
    alu_shf[address, --, B, handle, <<BUFFER_SHIFT]
#endm

#endif
