; Common to the stages of the pacing system, besides the router's metadata, messages
; and slots (../router/router.uc).

#ifndef PACING_UC
#define PACING_UC

; ---- metadata ----
;
; A packet that is far from due has its due time where the input port stood, which
; is not needed any more: link, length and due time are read together.
#define META_DUE      8
; TCP of a flow of the table: the sequence number after a segment's data, or the
; acknowledgement that it brings.
#define META_SEQUENCE 24

; ---- slots ----
;
; A slot's queue is flow << FLOW_SHIFT | port << PORT_SHIFT | kind: a flow's number in
; the flow table, or 0 for packets of no flow; their output port; what they are to
; their flow.
#define FLOW_SHIFT  4
#define PORT_SHIFT  2
#define FLOW_LIMIT  2048
#define KIND_ACKNOWLEDGES_BIT 0 ; an acknowledgement without data
#define KIND_TCP_BIT          1 ; a segment of TCP with data

; ---- a flow's record in SRAM, 64 bytes at FLOW_RECORDS + flow * 64 ----
#define FLOW_DUE      0     ; TIMESTAMP_LOW when its next packet is due
#define FLOW_FRACTION 4     ; 2^-8 steps more
#define FLOW_PACKETS  8     ; packets that were given a due time
#define FLOW_GAP      12    ; from a packet to the next, in 2^-8 steps; the core writes it
#define FLOW_ACKED    16    ; the highest acknowledgement
#define FLOW_REPEATED 20    ; how often it was repeated
#define FLOW_BYTES    24    ; bytes that were acknowledged, modulo 2^32
#define FLOW_LOSSES   28    ; times that it was repeated three times
#define FLOW_RTT      32    ; the last round-trip time in steps
#define FLOW_RTTS     36    ; how many there were
#define FLOW_TIMED    40    ; the acknowledgement that ends the one that is measured
#define FLOW_TIMED_AT 44    ; when it began, | 1; 0: none is measured
#define FLOW_RECORD_SHIFT 6

; ---- from the pacer to the wheel ----
;
; Next-neighbour ring: buffer, due time. A sender of a message while WHEEL_CALLED is 0
; raises WOKEN_SIGNAL in the wheel's first context; the wheel writes 0 before it looks
; at the ring. So the signal is never raised twice, and a wheel without packets sleeps
; until there is one.
#define WOKEN_SIGNAL 3

#endif
