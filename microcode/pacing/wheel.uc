; wheel.uc: holds packets until they are due. Two contexts of one microengine.
;
; The context `wheel` owns all that is due later, so none of it is locked:
;
;   slots    512 of 64 steps each, in local memory: the turn that runs (256 slots) and
;            the next one. A slot is the first and the last packet of a list whose
;            links are in the packets' metadata; a bitmap and a word above it tell
;            which slots are used.
;   buckets  one for each turn of the era that runs (half of them) and of the next one,
;            in scratch, of the same form. When a turn begins, the bucket of the turn after it
;            is poured into the slots.
;   far      what is due after these eras: a list. When an era begins, what is due in
;            the era after it is moved to buckets.
;
; Until a bucket has been poured, what comes for it goes to its end, and so with the
; list: two packets never overtake each other if the second is due no earlier.
;
; A slot is released when its time is over, so no packet leaves before it is due. The
; context `release` hands what was released to the transmit stage.
;
; The wheel sleeps until the next used slot or the turn is over, or a packet comes
; (pacing.uc). Without packets it does nothing.
;
; Times are TIMESTAMP_LOW, steps of 16 cycles modulo 2^32; that of a slot is that of its
; first step.

#include "constant.uc"
#include "timer.uc"
#include "../router/router.uc"
#include "pacing.uc"

#define SLOT_SHIFT 6
#define SLOT_STEPS (1 << SLOT_SHIFT)
#define TURN_SHIFT 14
#define TURN_STEPS (1 << TURN_SHIFT)
#define WHEEL_SLOTS 512

; 2^BUCKET_BITS buckets, two eras: 0.447 s.
#ifndef BUCKET_BITS
#define BUCKET_BITS 10
#endif
#define BUCKETS (1 << BUCKET_BITS)
#define ERA_SHIFT (TURN_SHIFT + BUCKET_BITS - 1)

#if ((BUCKETS * 4) > WHEEL_BUCKETS_SIZE)
#error "WHEEL_BUCKETS: 4 bytes for each of 2^BUCKET_BITS turns"
#endif

; Local memory: slots, then the bitmap. A list of no packets is 0, else its first packet
; << 16 | its last one, both as a buffer handle >> HANDLE_SHIFT.
#define BITMAP 0x800
#if (BUFFER_DESCRIPTOR == 8)
#define HANDLE_SHIFT 3
#elif (BUFFER_DESCRIPTOR == 16)
#define HANDLE_SHIFT 4
#else
#define HANDLE_SHIFT 2
#endif
#if ((BUFFER_COUNT + 1) > 0xffff)
#error "a list has 16 bits for a buffer"
#endif

; Steps that the wheel sleeps at least: arming the timer takes less.
#define LEAST_SLEEP 2
; Beyond all that is due.
#define FAR 0x40000000

; Steps between two looks at a transmit ring that is full.
#define FULL_GAP 8

; The second of four contexts.
#define RELEASE_CONTEXT 2

.num_contexts 4

.reg read $bucket
.reg read $link $length $due
.xfer_order $link $length $due
.reg read $ahead_link $ahead_length $ahead_due
.xfer_order $ahead_link $ahead_length $ahead_due
.reg write $zero $new_link $new_bucket $new_due $splice
.reg read $after $bytes $was_due $output
.xfer_order $after $bytes $was_due $output
.reg write $packet $octets
.xfer_order $packet $octets

.sig volatile woken
.addr woken WOKEN_SIGNAL
.sig volatile rung released linked stored noted handed ahead
.sig fetched written spliced read again

; Shared by the contexts: the list of released packets, as handles, 0 if there is
; none; whether `release` is at work.
.reg @out_first @out_last @at_work

; list_new(list, handle)
;   list <- a list of one packet.
#macro list_new(list, handle)
    alu_shf[list, --, B, handle, <<(16 - HANDLE_SHIFT)]
    alu_shf[list, list, OR, handle, >>HANDLE_SHIFT]
#endm

; list_first(handle, list)
;   handle <- the first packet.
#macro list_first(handle, list)
    alu_shf[handle, --, B, list, >>16]
    alu_shf[handle, --, B, handle, <<HANDLE_SHIFT]
#endm

; list_last(handle, list)
;   handle <- the last packet.
#macro list_last(handle, list)
    ld_field_w_clr[handle, 0011, list]
    alu_shf[handle, --, B, handle, <<HANDLE_SHIFT]
#endm

; list_last_of(last, list)
;   last <- the last packet >> HANDLE_SHIFT.
#macro list_last_of(last, list)
    ld_field_w_clr[last, 0011, list]
#endm

; list_add(list, handle)
;   Puts a packet behind the last one of `list`, which has one. Raises `linked` when
;   that is written; it was raised for the write before.
#macro list_add(list, handle)
.begin
    .reg last at
    list_last(last, list)
    metadata_address(at, last)
    ctx_arb[linked]
    alu[$new_link, --, B, handle]
    sram[write, $new_link, at, 0, 1], sig_done[linked]
    alu_shf[last, --, B, handle, >>HANDLE_SHIFT]
    ld_field[list, 0011, last]
.end
#endm

; list_put(list, handle)
;   The same, also if `list` has no packet.
#macro list_put(list, handle)
    alu[--, --, B, list]
    bne[after#]
    list_new(list, handle)
    br[put#]
after#:
    list_add(list, handle)
put#:
#endm

; list_take(list, handle, due, none#)
;   handle, due <- the first packet of `list`, which has one, and when it is due; the
;   list without it. To none# if that leaves nothing.
#macro list_take(list, handle, due, none)
.begin
    .reg at
    list_first(handle, list)
    metadata_address(at, handle)
    sram[read, $link, at, 0, 3], ctx_swap[fetched]
    alu[due, --, B, $due]
    list_last(at, list)
    alu[--, at, XOR, handle]
    beq[none], defer[1]
    alu_shf[at, --, B, $link, <<(16 - HANDLE_SHIFT)]
    ld_field[list, 1100, at]
.end
#endm

; pour_ahead()
;   Begins to read the first packet of `pour`, before it is needed. Its link will be
;   known if there is one after it now. Raises `ahead`.
#macro pour_ahead()
.begin
    .reg first last
    list_first(first, pour)
    list_last(last, pour)
    alu[known, first, XOR, last]
    metadata_address(last, first)
    sram[read, $ahead_link, last, 0, 3], sig_done[ahead]
.end
#endm

; look_again()
;   To look#, which begins on the way.
#macro look_again()
    br[looked#], defer[2]
    time_now(now)
#endm

; bucket_of(at, time)
;   at <- where the bucket of the turn of `time` is.
#macro bucket_of(at, time)
.begin
    .reg mask
    alu_shf[mask, --, B, era_steps, <<1]
    alu[mask, mask, -, 1]
    alu[at, time, AND, mask]
    alu_shf[at, --, B, at, >>TURN_SHIFT]
    alu_shf[at, --, B, at, <<2]
.end
#endm

; Registers of the context `wheel`. The next used slot of a wheel without one is FAR steps
; ahead.
.reg one slot_mask bitmap turn_steps turn_mask era_steps far_ahead
.reg used          ; bit n: longword n of the bitmap is not 0
.reg next          ; the first used slot
.reg wake          ; when that is over, or the turn if it ends before
.reg turn          ; when the turn that runs began
.reg turn_end      ; when it is over
.reg open          ; what is due before this goes into slots
.reg open_buckets  ; what is due before this goes into buckets
.reg waiting       ; packets in buckets and lists
.reg pour          ; what is left of the bucket that is being poured
.reg known         ; not 0: the link of its first packet is
.reg far           ; what is due after the buckets
.reg sweep         ; what is left of it to move to buckets
.reg buckets called

    br=ctx[RELEASE_CONTEXT, releases#]
    br=ctx[0, wheel#]
    ctx_arb[kill]

wheel#:
.begin
    .reg place zero
    immed[one, 1]
    load_constant(slot_mask, ((WHEEL_SLOTS - 1) << 2))
    load_constant(bitmap, BITMAP)
    load_constant(turn_steps, TURN_STEPS)
    load_constant(turn_mask, (TURN_STEPS - 1))
    load_constant(far_ahead, FAR)
    load_constant(era_steps, (1 << ERA_SHIFT))
    load_constant(buckets, WHEEL_BUCKETS)
    load_constant(called, WHEEL_CALLED)
    immed[used, 0]
    immed[waiting, 0]
    immed[pour, 0]
    immed[known, 0]
    immed[far, 0]
    immed[sweep, 0]
    immed[@out_first, 0]
    immed[@out_last, 0]
    immed[@at_work, 0]
    ; No turn begins then: the first one is yet to come.
    immed[turn, 1]
    immed[turn_end, 0]
    immed[open, 0]
    immed[open_buckets, 0]
    ; No slot is used.
    immed[zero, 0]
    local_csr_wr[ACTIVE_LM_ADDR_0, zero]
    load_constant(place, (WHEEL_SLOTS + (WHEEL_SLOTS / 32)))
    nop
    nop
clear#:
    alu[place, place, -, 1]
    bne[clear#], defer[1]
    alu[*l$index0++, --, B, zero]
    ; The writes before the first are done.
    local_csr_wr[SAME_ME_SIGNAL, (&linked << 3)]
    .set_sig linked
    local_csr_wr[SAME_ME_SIGNAL, (&stored << 3)]
    .set_sig stored
    local_csr_wr[SAME_ME_SIGNAL, (&noted << 3)]
    .set_sig noted
.end

.begin
    .reg now left handle due slot limit
    br[idle#]

    ; ---- what there is to do ----
look#:
    time_now(now)
looked#:
    alu[left, now, -, wake]
    bpl[due#]
listen#:
    br_inp_state[NN_EMPTY, unheard#]
heard#:
    alu[handle, --, B, *n$index++]
    alu[due, --, B, *n$index++]
    alu[limit, --, B, open]

    ; The slot is that of the due time; if that has passed the last one that is over, or
    ; the first used one if that is later still, and never one of the turn before, which
    ; the next turn has taken.
place#:
    alu[slot, now, AND~, (SLOT_STEPS - 1)]
    alu[slot, slot, -, SLOT_STEPS]
    alu[left, next, -, slot]
    bmi[behind#]
placed#:
    alu[left, slot, -, turn]
    bmi[turn_before#]
    alu[left, due, AND~, (SLOT_STEPS - 1)]
    alu[--, left, -, slot]
    bmi[passed#]
    alu[slot, --, B, left]
passed#:
    alu[left, slot, -, limit]
    bpl[wait#]

    ; ---- into a slot ----
.begin
    .reg at word place bit list
    alu_shf[at, slot_mask, AND, slot, >>(SLOT_SHIFT - 2)]
    local_csr_wr[ACTIVE_LM_ADDR_0, at]
    alu_shf[word, --, B, at, >>7]
    alu_shf[place, bitmap, OR, word, <<2]
    local_csr_wr[ACTIVE_LM_ADDR_1, place]
    alu[list, --, B, *l$index0]
    bne[more#], defer[1]
    alu_shf[place, --, B, at, >>2]
    alu[--, place, OR, 0]
    alu_shf[bit, --, B, one, <<indirect]
    alu[*l$index1, bit, OR, *l$index1]
    list_new(list, handle)
    alu[*l$index0, --, B, list]
    alu[--, word, OR, 0]
    alu_shf[bit, --, B, one, <<indirect]
    alu[left, slot, -, next]
    bpl[listen_again#], defer[1]
    alu[used, used, OR, bit]
    ; The first used one.
    alu[next, --, B, slot]
    alu[slot, slot, +, SLOT_STEPS]
    alu[left, slot, -, wake]
    bpl[listen_again#]
    alu[wake, --, B, slot]

listen_again#:
    br_!inp_state[NN_EMPTY, look#]
unheard#:
    alu[--, pour, OR, sweep]
    bne[work#]

    ; ---- asleep ----
    alu[--, used, OR, waiting]
    beq[idle#]
    time_now(now)
    alu[left, wake, -, now]
    alu[left, left, -, LEAST_SLEEP]
    bmi[soon#], defer[1]
    alu[left, --, B, wake]
armed#:
    local_csr_wr[ACTIVE_CTX_FUTURE_COUNT, left]
    local_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, &rung]
    .set_sig rung
    ctx_arb[woken, rung], any
    local_csr_wr[ACTIVE_FUTURE_COUNT_SIGNAL, 0]
    br_!signal[rung, message#]
message#:
    br_!signal[woken, look#]
    ; A sender of a message from now on calls again.
    immed[$zero, 0]
    scratch[write, $zero, called, 0, 1], ctx_swap[written]
    look_again()
work#:
    ; Slots that are over come first.
    time_now(now)
    alu[left, now, -, wake]
    bmi[step#]
    br[due#]
soon#:
    ; A count that has passed would come again after a whole turn of its 16 bits.
    br[armed#], defer[1]
    alu[left, now, +, LEAST_SLEEP]
more#:
    list_add(list, handle)
    br[listen_again#], defer[1]
    alu[*l$index0, --, B, list]
.end

    ; ---- without packets: until one comes ----
idle#:
    ctx_arb[woken]
    immed[$zero, 0]
    scratch[write, $zero, called, 0, 1], ctx_swap[written]
    time_now(now)
    alu[next, now, +, far_ahead]
    alu[left, now, AND~, turn_mask]
    alu[--, left, XOR, turn]
    beq[listen#], defer[1]
    alu[wake, --, B, turn_end]
    ; The turn and the era that run now.
    alu[turn, --, B, left]
    alu[turn_end, turn, +, turn_steps]
    alu[open, turn_end, +, turn_steps]
    alu[left, era_steps, -, 1]
    alu[open_buckets, now, AND~, left]
    alu[open_buckets, open_buckets, +, era_steps]
    alu[open_buckets, open_buckets, +, era_steps]
    br[listen#], defer[1]
    alu[wake, --, B, turn_end]

behind#:
    br[placed#], defer[1]
    alu[slot, --, B, next]
turn_before#:
    alu[slot, --, B, turn]
    alu[left, due, AND~, (SLOT_STEPS - 1)]
    alu[--, left, -, slot]
    bmi[passed#]
    br[passed#], defer[1]
    alu[slot, --, B, left]

    ; ---- a slot or the turn is over ----
due#:
    alu[left, now, -, next]
    alu[left, left, -, SLOT_STEPS]
    bmi[turned#]

    ; The packets of a slot are released.
.begin
    .reg at word place bit list bits
    alu[slot, --, B, next]
    alu_shf[at, slot_mask, AND, slot, >>(SLOT_SHIFT - 2)]
    local_csr_wr[ACTIVE_LM_ADDR_0, at]
    alu_shf[word, --, B, at, >>7]
    alu_shf[place, bitmap, OR, word, <<2]
    local_csr_wr[ACTIVE_LM_ADDR_1, place]
    alu_shf[place, --, B, at, >>2]
    alu[--, place, OR, 0]
    alu_shf[bit, --, B, one, <<indirect]
    alu[list, --, B, *l$index0]
    immed[*l$index0, 0]

    ; The next used one: above in this longword of the bitmap, in the longwords above,
    ; then from the first one on.
    alu[bits, *l$index1, AND~, bit]
    bne[some#], defer[1]
    alu[*l$index1, --, B, bits]
    alu[--, word, OR, 0]
    alu_shf[bit, --, B, one, <<indirect]
    alu[used, used, AND~, bit]
    bne[longword#]
    alu[next, now, +, far_ahead]
    br[release#], defer[1]
    alu[wake, --, B, turn_end]
some#:
    alu[bit, bit, -, 1]
    alu[bits, bits, AND~, bit]
    bne[found#], defer[1]
    alu[--, word, OR, 0]
    alu_shf[bit, --, B, one, <<indirect]
longword#:
    alu_shf[bit, --, B, bit, <<1]
    alu[bit, bit, -, 1]
    alu[bits, used, AND~, bit]
    bne[above#]
    alu[bits, --, B, used]
above#:
    ffs[word, bits]
    alu_shf[bit, bitmap, OR, word, <<2]
    local_csr_wr[ACTIVE_LM_ADDR_1, bit]
    nop
    nop
    nop
    alu[bits, --, B, *l$index1]
found#:
    ffs[left, bits]
    alu_shf[left, left, OR, word, <<5]
    alu[left, left, -, place]
    alu_shf[left, slot_mask, AND, left, <<2]
    alu_shf[left, --, B, left, <<(SLOT_SHIFT - 2)]
    alu[next, next, +, left]

    alu[left, --, B, turn_end]
    alu[wake, next, +, SLOT_STEPS]
    alu[left, wake, -, left]
    bmi[release#]
    alu[wake, --, B, turn_end]

release#:
    list_first(handle, list)
    alu[--, --, B, @out_first]
    beq[empty#], defer[2]
    list_last_of(at, list)
    alu_shf[at, --, B, at, <<HANDLE_SHIFT]
    alu[place, --, B, @out_last]
    metadata_address(place, place)
    alu[$splice, --, B, handle]
    sram[write, $splice, place, 0, 1], sig_done[spliced]
    alu[@out_last, --, B, at]
    ctx_arb[spliced]
    look_again()
empty#:
    alu[@out_first, --, B, handle]
    alu[@out_last, --, B, at]
    alu[--, --, B, @at_work]
    bne[look#]
    local_csr_wr[SAME_ME_SIGNAL, (RELEASE_CONTEXT | (&released << 3))]
    .set_sig released
    br[listen_again#], defer[1]
    immed[@at_work, 1]
.end

    ; ---- the turn is over ----
turned#:
.begin
    .reg at
    ; Not before all that is due in the turn after it stands in slots.
    alu[--, pour, OR, sweep]
    bne[step#]
    alu[turn, --, B, turn_end]
    alu[turn_end, turn, +, turn_steps]
    alu[open, --, B, turn_end]
    alu[left, era_steps, -, 1]
    alu[--, left, AND, turn]
    bne[same_era#]
    alu[open_buckets, --, B, turn]
    alu[open_buckets, open_buckets, +, era_steps]
    alu[sweep, --, B, far]
    bne[same_era#], defer[1]
    immed[far, 0]
    alu[open_buckets, open_buckets, +, era_steps]
same_era#:
    bucket_of(at, turn_end)
    scratch[read, $bucket, buckets, at, 1], ctx_swap[fetched]
    alu[wake, next, +, SLOT_STEPS]
    alu[left, --, B, turn_end]
    alu[left, wake, -, left]
    bmi[slot_first#]
    alu[wake, --, B, turn_end]
slot_first#:
    alu[pour, --, B, $bucket]
    bne[filled#]
    br[look#], defer[1]
    alu[open, turn_end, +, turn_steps]
filled#:
    ctx_arb[stored]
    immed[$new_bucket, 0]
    scratch[write, $new_bucket, buckets, at, 1], sig_done[stored]
    pour_ahead()
    look_again()
.end

    ; ---- due after what goes into slots ----
wait#:
.begin
    .reg at list
    ctx_arb[noted]
    metadata_address(at, handle)
    alu[$new_due, --, B, due]
    sram[write, $new_due, at, META_DUE, 1], sig_done[noted]
    alu[waiting, waiting, +, 1]
    alu[left, turn_end, +, turn_steps]
    alu[left, slot, -, left]
    bmi[pouring#]
    alu[left, slot, -, open_buckets]
    bpl[far#]
into_bucket#:
    bucket_of(at, slot)
    scratch[read, $bucket, buckets, at, 1], ctx_swap[fetched]
    alu[list, --, B, $bucket]
    list_put(list, handle)
    ctx_arb[stored]
    alu[$new_bucket, --, B, list]
    scratch[write, $new_bucket, buckets, at, 1], sig_done[stored]
    look_again()
.end
pouring#:
    list_add(pour, handle)
    look_again()
far#:
    alu[--, --, B, sweep]
    beq[farther#]
    list_add(sweep, handle)
    look_again()
farther#:
    list_put(far, handle)
    look_again()

    ; ---- no packet came: one from a bucket, or one from the list ----
step#:
    alu[--, --, B, pour]
    beq[sweeping#]
    ctx_arb[ahead]
    list_first(handle, pour)
    list_last(left, pour)
    alu[--, left, XOR, handle]
    beq[poured#], defer[1]
    alu[due, --, B, $ahead_due]
    alu[--, --, B, known]
    beq[unknown#], defer[1]
    alu_shf[left, --, B, $ahead_link, <<(16 - HANDLE_SHIFT)]
rest#:
    ld_field[pour, 1100, left]
    pour_ahead()
    br[pour#]
unknown#:
.begin
    .reg at
    metadata_address(at, handle)
    sram[read, $link, at, 0, 3], ctx_swap[fetched]
    br[rest#], defer[1]
    alu_shf[left, --, B, $link, <<(16 - HANDLE_SHIFT)]
.end
poured#:
    immed[pour, 0]
    alu[open, turn_end, +, turn_steps]
pour#:
    alu[waiting, waiting, -, 1]
    br[place#], defer[1]
    alu[limit, turn_end, +, turn_steps]

sweeping#:
.begin
    .reg limit
    alu[limit, open_buckets, +, era_steps]
    list_take(sweep, handle, due, swept#)
    br[sweep#]
swept#:
    immed[sweep, 0]
    alu[open_buckets, --, B, limit]
sweep#:
    alu[slot, due, AND~, (SLOT_STEPS - 1)]
    alu[left, slot, -, limit]
    bmi[into_bucket#]
    br[farther#]
.end
.end

    ; ---- the context `release`: what is due goes to the transmit stage ----
releases#:
.begin
    .reg handle last at port tx_ring
    immed[tx_ring, TX_RING]
    local_csr_wr[SAME_ME_SIGNAL, (RELEASE_CONTEXT | (&handed << 3))]
    .set_sig handed
idle#:
    ctx_arb[released]
packet#:
    alu[handle, --, B, @out_first]
    beq[none#]
    ; The link of the last packet is written when another one comes after it, if
    ; that is before it is taken off.
    metadata_address(at, handle)
    alu[last, handle, XOR, @out_last]
    bne[more#]
    immed[@out_first, 0]
    sram[read, $after, at, 0, 4], sig_done[read]
    ctx_arb[read, handed]
room#:
    br_inp_state[TX_RING_STATUS, full#]
    alu_shf[port, --, B, $output, >>24]
    alu_shf[$packet, handle, OR, port, <<24]
    alu[$octets, --, B, $bytes]
    br[packet#], defer[1]
    scratch[put, $packet, tx_ring, 0, 2], sig_done[handed]
more#:
    sram[read, $after, at, 0, 4], sig_done[read]
    ctx_arb[read, handed]
    ld_field_w_clr[at, 0111, $after]
    br[room#], defer[1]
    alu[@out_first, --, B, at]
full#:
    timer_wait(FULL_GAP, again)
    br[room#]
none#:
    br[idle#], defer[1]
    immed[@at_work, 0]
.end
