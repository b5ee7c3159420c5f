; Common to the stages of the router: metadata, messages, sequence slots.

#ifndef ROUTER_UC
#define ROUTER_UC

; ---- metadata: a buffer's descriptor in SRAM, byte offsets ----
;
; The first longword is the link of the queue that the buffer is in.
#define META_LENGTH   4     ; bytes of the frame
#define META_INPUT    8     ; port on which it arrived
#define META_OUTPUT   12    ; port << 24 | queue
#define META_NEXT_HOP 16    ; index in the next-hop table
#define META_STAMP    20    ; TIMESTAMP_LOW when its processing began

; ---- order ----
;
; The receive stage numbers the packets that it hands on, starting at FIRST_SEQUENCE,
; modulo 2^16. The processing stage finishes them in any order; it puts the result of
; each into the slot for its number, and the queue manager takes the slots in order.
; A slot is three longwords, and slots are four longwords apart:
;   0  number << 16 | SLOT_SKIP if there is nothing to send | queue
;   1  buffer handle
;   2  bytes of the frame
; The queue manager keeps the number that it expects next in NEXT_SLOT. A slot may be
; written when its number is less than WINDOW ahead of that, so no more than WINDOW
; packets wait there when the queue manager is behind.
#define SLOTS          32
#ifndef WINDOW
#define WINDOW         16
#endif
#if (WINDOW > SLOTS)
#error "WINDOW: there are SLOTS slots, and no more than that may be filled"
#endif
#define FIRST_SEQUENCE 0x100
#define SLOT_SKIP_BIT  15

; ---- classes of service ----
;
; A queue's number is port * CLASSES + class; class 0 is best effort.
#define CLASSES     4
#define CLASS_SHIFT 2

; ---- messages ----
;
; A buffer handle has 24 bits; SENT_BIT is set in a message that might otherwise be
; 0, the value read from an empty ring.
#define SENT_BIT 31

; metadata_address(address, handle)
;   address <- byte address in SRAM of a buffer's descriptor.
#macro metadata_address(address, handle)
    alu_shf[address, --, B, handle, <<2]
#if (BUFFER_CHANNEL_BASE != 0)
    alu_shf[address, address, OR, (BUFFER_CHANNEL_BASE >> 30), <<30]
#endif
#endm

; time_now(now)
;   now <- TIMESTAMP_LOW, in steps of 16 cycles.
#macro time_now(now)
    local_csr_rd[TIMESTAMP_LOW]
    immed[now, 0]
#endm

#endif
