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

; descriptor_address(address, handle)
;   address <- byte address in SRAM of a buffer's descriptor.
#macro descriptor_address(address, handle)
    alu_shf[address, --, B, handle, <<2]
#if (BUFFER_CHANNEL_BASE != 0)
    alu_shf[address, address, OR, (BUFFER_CHANNEL_BASE >> 30), <<30]
#endif
#endm

; Fields of the descriptor of a packet between microcode and the general-purpose core,
; in bytes from its start; the first longword is the link. In a message
; to or from the core a handle has the port or the reason in bits 31-24.
#define DESCRIPTOR_LENGTH 4     ; bytes of the frame
#define DESCRIPTOR_INPUT  8     ; port on which it came

#endif
