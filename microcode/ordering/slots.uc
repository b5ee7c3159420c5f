; The elements of TBUF that each context may fill.

#ifndef ORDERING_SLOTS_UC
#define ORDERING_SLOTS_UC

#ifndef CONTEXTS
#define CONTEXTS 8
#endif
#define STAGE_FIRST FORWARD_FIRST
#define STAGE_COUNT FORWARD_COUNT
#include "arrangement.uc"

; Elements of a slot: the largest packet's.
#define_eval SLOT_PARTS ((SLOT_BYTES + 63) / 64)

; Contexts of a microengine that have a slot.
#define_eval CONTEXTS_USED (TBUF_ELEMENTS / SLOT_PARTS / FORWARD_COUNT)
#if (CONTEXTS_USED > CONTEXTS)
#define_eval CONTEXTS_USED CONTEXTS
#endif
#if (CONTEXTS_USED == 0)
#error "TBUF has no slot for every microengine: fewer microengines or smaller slots"
#endif

; Elements of all slots: a context's slot comes again after so many.
#define_eval ROUND (FORWARD_COUNT * CONTEXTS_USED * SLOT_PARTS)
#define_eval CHUNK (CONTEXTS_USED * SLOT_PARTS)
#define_eval ME_PLACE (ME_INDEX - FORWARD_FIRST)

#if (SLOTS_GLOBAL || !ONE_MPACKET)
.reg read $serving
.reg $number
.reg write $pass $advance
.xfer_order $pass $advance
.sig took seen
.reg number
#endif

; receive_take(count, status)
;   Takes a packet's mpackets; where a packet may have several of them, only one
;   context at a time.
#macro receive_take(count, status)
#if (ONE_MPACKET)
    packet_take(count, status)
#else
.begin
    .reg base
    immed[base, RECEIVE_LOCK]
    ticket_take(number, $number, $serving, base, took, seen, rung)
    packet_take(count, status)
    ticket_pass(number, $pass, base, seen)
    ctx_arb[seen]
.end
#endif
#endm

#if (SLOTS_GLOBAL)

#macro slots_set_up(context)
#endm

#macro slot_fits(length, verdict, drop)
#endm

; slot_claim(place, end, length)
;   place <- first element that the context may fill with a packet of `length` bytes,
;   end <- the one behind its slot. Waits until the elements are free.
#macro slot_claim(place, end, length)
.begin
    .reg base now ahead
    immed[base, SLOT_LOCK]
    ticket_take(number, $number, $serving, base, took, seen, rung)
    alu[end, length, +, 63]
    alu_shf[end, --, B, end, >>6]
    br[first#]

    ; Element by element: what is next, whether it is free, one more is taken. The
    ; last one is taken with the write that passes the lock.
more#:
    alu[$advance, --, B, now]
    scratch[write, $advance, base, 8, 1], ctx_swap[seen]
first#:
    scratch[read, $serving, base, 8, 1], ctx_swap[seen]
    alu[now, $serving, +, 1]
    transmit_room(ahead, now, TBUF_ELEMENTS)
    alu[end, end, -, 1]
    bne[more#]

    alu[$advance, --, B, now]
    alu[$pass, number, +, 1]
    scratch[write, $pass, base, 4, 2], ctx_swap[seen]
    alu[end, --, B, now]
    alu[place, length, +, 63]
    alu_shf[place, --, B, place, >>6]
    alu[place, end, -, place]
.end
#endm

#else

; Countdown of the receive freelist in steps of two cycles, 1 us: when nothing has
; come for so long, the contexts that wait are woken one after the other.
#ifndef FREELIST_TIMEOUT
#define FREELIST_TIMEOUT 300
#endif

; slot_fits(length, verdict, drop)
;   A packet that is longer than a slot goes to drop# with a verdict.
#macro slot_fits(length, verdict, drop)
#if (!ONE_MPACKET || SLOT_PARTS * 64 < RBUF_ELEMENT_SIZE)
.begin
    .reg most
    immed[most, (SLOT_PARTS * 64)]
    alu[--, most, -, length]
    blo[drop], defer[1]
    immed[verdict, DROP_SLOT]
.end
#endif
#endm

; slots_wake_idle()
;   The first context of the stage starts the countdown.
#macro slots_wake_idle()
#if (ME_INDEX == FORWARD_FIRST)
.begin
    .reg timeout
    br!=ctx[0, awake#]
    immed[timeout, FREELIST_TIMEOUT]
    alu_shf[timeout, --, B, timeout, <<16]
    alu[timeout, timeout, OR, RX_THREAD_FREELIST_TIMEOUT_0]
    msf[fast_wr, --, timeout, 0]
awake#:
.end
#endif
#endm

#if (SLOTS_LOCAL)

; The microengine's next slot, and how many are left before the others' come.
.reg @held @slot @left

#macro slots_set_up(context)
    slots_wake_idle()
    br!=ctx[0, ready#]
    immed[@held, 0]
    immed[@slot, (ME_PLACE * CHUNK)]
    immed[@left, CONTEXTS_USED]
ready#:
#endm

; slot_next(place)
;   place <- where the slot begins that is claimed next.
#macro slot_next(place)
    alu[place, --, B, @slot]
#endm

#macro slot_claim(place, end, length)
    br[try#]
again#:
    ctx_arb[voluntary]
try#:
    alu[--, --, B, @held]
    bne[again#]
    immed[@held, 1]
    alu[place, --, B, @slot]
    alu[end, place, +, SLOT_PARTS]
.begin
    .reg ahead
    transmit_room(ahead, place, (ROUND - SLOT_PARTS))
.end
    alu[@slot, --, B, end]
    alu[@left, @left, -, 1]
    bne[claimed#]
    immed[@left, CONTEXTS_USED]
    alu[@slot, @slot, +, (ROUND - CHUNK)]
claimed#:
    immed[@held, 0]
#endm

#else

.reg slot

; Slot of the microengine's context 0, and the distance to that of the next context.
#if (SLOTS_STRIDED)
#define_eval FIRST_SLOT (ME_PLACE * SLOT_PARTS)
#define_eval NEXT_SLOT (FORWARD_COUNT * SLOT_PARTS)
#else
#define_eval FIRST_SLOT (ME_PLACE * CHUNK)
#define_eval NEXT_SLOT SLOT_PARTS
#endif

#macro slots_set_up(context)
.begin
    .reg left
    slots_wake_idle()
    immed[slot, FIRST_SLOT]
    alu[left, --, B, context]
    beq[placed#]
before#:
    alu[slot, slot, +, NEXT_SLOT]
    alu[left, left, -, 1]
    bne[before#]
placed#:
.end
#endm

#macro slot_next(place)
    alu[place, --, B, slot]
#endm

#macro slot_claim(place, end, length)
    alu[place, --, B, slot]
    alu[end, slot, +, SLOT_PARTS]
.begin
    .reg ahead
    transmit_room(ahead, place, (ROUND - SLOT_PARTS))
.end
    alu[slot, slot, +, ROUND]
#endm

#endif
#endif
#endif
