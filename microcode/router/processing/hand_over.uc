; Hand-over to the queue manager, in order: slots by sequence number.

#ifndef HAND_OVER_UC
#define HAND_OVER_UC

; Number of queue managers that read the slots.
#ifndef QUEUE_MANAGERS
#define QUEUE_MANAGERS 1
#endif

; Steps of 16 cycles between two samples of the queue manager's progress.
#ifndef WINDOW_GAP
#define WINDOW_GAP 4
#endif

; hand_over_room(sequence)
;   Waits until the slot of `sequence` may be written. One context of the
;   microengine reads the expected number, and all share the result.
#macro hand_over_room(sequence)
.begin
    .reg ahead
look#:
    alu[ahead, sequence, -, @window]
    ld_field[ahead, 1100, 0]
    alu[--, ahead, -, WINDOW]
    blo[room#]
    alu[--, --, B, @asking]
    bne[sleep#]
    immed[@asking, 1]
#if (QUEUE_MANAGERS > 1)
    ; Both must be done with the slot: the one that is behind decides.
    scratch[read, $next, next_slot, 0, 2], ctx_swap[handed]
    immed[@asking, 0]
    alu[@window, --, B, $next]
    alu[ahead, $next_1, -, @window]
    br_bclr[ahead, 15, ahead#]
    alu[@window, --, B, $next_1]
ahead#:
#else
    scratch[read, $next, next_slot, 0, 1], ctx_swap[handed]
    immed[@asking, 0]
    alu[@window, --, B, $next]
#endif
    alu[ahead, sequence, -, @window]
    ld_field[ahead, 1100, 0]
    alu[--, ahead, -, WINDOW]
    blo[room#]
sleep#:
    timer_wait(WINDOW_GAP, rung)
    br[look#]
room#:
.end
#endm

; hand_over(sequence, queue, handle, length)
;   Fills the slot with a packet for a queue.
#macro hand_over(sequence, queue, handle, length)
.begin
    .reg place
    alu_shf[$slot0, queue, OR, sequence, <<16]
    alu[$slot1, --, B, handle]
    alu[$slot2, --, B, length]
    alu[place, sequence, AND, (SLOTS - 1)]
    alu_shf[place, --, B, place, <<4]
    scratch[write, $slot0, slots, place, 3], ctx_swap[handed]
.end
#endm

; hand_over_nothing(sequence)
;   Fills the slot of a packet that is not to be queued.
#macro hand_over_nothing(sequence)
.begin
    .reg place mark
    alu_shf[mark, --, B, 1, <<SLOT_SKIP_BIT]
    alu_shf[$slot0, mark, OR, sequence, <<16]
    alu[place, sequence, AND, (SLOTS - 1)]
    alu_shf[place, --, B, place, <<4]
    scratch[write, $slot0, slots, place, 1], ctx_swap[handed]
.end
#endm

#endif
