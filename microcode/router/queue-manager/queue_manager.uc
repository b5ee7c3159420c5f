; queue_manager.uc: the queue manager, using the Q-array of the SRAM controller.
; Eight contexts of one microengine.
;
; A round of a context: read the slot of the next number and take a request from
; the scheduler; then, in turn, enqueue the slot's packet and start to dequeue the
; requested packet from its queue; then, again in turn, pass the dequeued packet to
; the transmit stage. Either half may have nothing to do. The scheduler is notified
; of both on the next-neighbour ring.
;
;   look   read the slot and the request, when `near` signals that the context is
;          at most two away from `order`, so that what it reads is still valid then
;   order  enqueue and start to dequeue
;   send   pass on the dequeued packets, in the same order

; With QUEUE_MANAGERS = 2 there are two of them. Each reads all slots in order and
; owns the queues of every other port, as QUEUE_MANAGER selects. They share only the
; ring to the transmit stage; all packets of a port come from one of them, so their
; order is kept. The second one is not a neighbour of the scheduler and notifies it
; on a scratch ring.

#include "constant.uc"
#include "timer.uc"
#include "turn.uc"
#include "buffer.uc"
#include "../router.uc"
#include "../rest.uc"

#ifndef QUEUE_MANAGERS
#define QUEUE_MANAGERS 1
#endif
#ifndef QUEUE_MANAGER
#define QUEUE_MANAGER 0
#endif

; A queue's counters in SRAM, 64 bytes at QUEUE_COUNTERS + queue * 64: packets and
; bytes enqueued, packets and bytes sent, 64 bits each, upper half first; then
; packets dropped, 32 bits.
#define QUEUE_IN_PACKETS  0
#define QUEUE_IN_BYTES    8
#define QUEUE_OUT_PACKETS 16
#define QUEUE_OUT_BYTES   24
#define QUEUE_DROPPED     32
#define QUEUE_COUNTERS_SHIFT 6

; With 32, the upper halves are not updated and the lower ones wrap: cheaper per
; packet, but the counters must be read before they wrap around.
#ifndef COUNTER_BITS
#define COUNTER_BITS 64
#endif

; wide_add(counter, which, amount, $old, done)
;   Adds `amount` to the lower half of a queue's counter. The previous value of that
;   half is in $old when `done` is raised.
#macro wide_add(counter, which, amount, old, done)
    alu[old, --, B, amount]
    sram[test_and_add, old, counter, (which + 4)], sig_done[done]
#endm

; wide_carry(counter, which, amount, $old)
;   Carries into the upper half, once the previous lower half is in $old.
#macro wide_carry(counter, which, amount, old)
#if (COUNTER_BITS == 64)
    alu[--, amount, +, old]
    bcc[small#]
    sram[incr, --, counter, which]
small#:
#endif
#endm

; A queue's record in local memory, 32 bytes at queue * 32.
#define QUEUE_DEPTH   0     ; packets in the queue
#define QUEUE_OCTETS  1     ; bytes in the queue
#define QUEUE_AVERAGE 2     ; average number of packets << RED_SHIFT
#define QUEUE_EMPTIED 3     ; TIMESTAMP_LOW when the queue last became empty
#define QUEUE_LEAST   4     ; RED_LEAST << RED_SHIFT
#define QUEUE_MOST    5     ; RED_MOST << RED_SHIFT
#define QUEUE_ROOM    6     ; capacity in bytes
#define QUEUE_RECORD_SHIFT 5

; Maximum number of bytes of frames in a queue.
#ifndef QUEUE_LIMIT
#define QUEUE_LIMIT 131072
#else
#if (QUEUE_LIMIT < 1518)
#error "QUEUE_LIMIT: a full frame of 1518 bytes has to fit"
#elif (QUEUE_LIMIT > 0x200000)
#error "QUEUE_LIMIT: at most 2 MB, 2097152 bytes"
#elif (QUEUE_LIMIT > (BUFFER_COUNT * 1518))
#error "QUEUE_LIMIT: more than the packet buffers hold of full frames; buffers.count is too small"
#endif
#endif

; Random early detection (Floyd and Jacobson; RFC 2309), in packets: below
; RED_LEAST no packet is dropped; from there to RED_MOST the drop probability rises to
; RED_CHANCE in 1024, or, if that is not defined, to RED_MOST - RED_LEAST in 256; from
; RED_MOST on, all are dropped. A packet has the weight 2^-RED_SHIFT in the average. The
; average of an empty queue halves every 2^IDLE_SHIFT steps of 16 cycles, about the time
; to send as many packets as would halve it. With EARLY_DETECTION=0 a queue is a
; drop-tail FIFO: packets are dropped only when they do not fit into QUEUE_LIMIT.
#ifndef EARLY_DETECTION
#define EARLY_DETECTION 1
#endif
#if (EARLY_DETECTION == 0)
#ifdef RED_LEAST
#error "RED_LEAST has no effect with EARLY_DETECTION=0"
#endif
#ifdef RED_MOST
#error "RED_MOST has no effect with EARLY_DETECTION=0"
#endif
#ifdef RED_CHANCE
#error "RED_CHANCE has no effect with EARLY_DETECTION=0"
#endif
#endif
#ifndef RED_LEAST
#define RED_LEAST   48
#endif
#ifndef RED_MOST
#define RED_MOST    112
#endif
#ifndef RED_SHIFT
#define RED_SHIFT   6
#endif
#ifndef IDLE_SHIFT
#define IDLE_SHIFT  10
#endif
#if (RED_LEAST < 1)
#error "RED_LEAST: one packet at least; a FIFO is EARLY_DETECTION=0"
#endif
#if (RED_MOST <= RED_LEAST)
#error "RED_MOST: more packets than RED_LEAST"
#endif
#if (RED_MOST > 32767)
#error "RED_MOST: at most 32767 packets"
#endif
#if ((RED_SHIFT < 1) || (RED_SHIFT > 12))
#error "RED_SHIFT: 1 to 12"
#endif
#if ((IDLE_SHIFT < 1) || (IDLE_SHIFT > 24))
#error "IDLE_SHIFT: 1 to 24"
#endif
#ifdef RED_CHANCE
#if ((RED_CHANCE < 1) || (RED_CHANCE > 1024))
#error "RED_CHANCE: 1 to 1024, in 1024"
#endif
#elif ((RED_MOST - RED_LEAST) > 256)
#error "RED_MOST: without RED_CHANCE at most 256 packets more than RED_LEAST, where the chance is 1"
#endif

; Steps of 16 cycles that a context rests after a round in which it found no work.
#ifndef REST
#define REST 2
#endif

; Where rests may grow, a context that found nothing polls again only after all contexts
; before it have dealt with what they found. If all eight have found nothing, it rests
; before polling and no other context polls meanwhile, so an idle queue manager costs
; only one poll per rest.
#if (REST_LONGEST > REST)
#define RESTS_GROW
#endif

; queue_entry(address, queue)
;   address <- channel and Q-array entry of a queue, in the form that enqueue and
;   dequeue expect. Sixteen entries of the Q-array hold the most recently used
;   queues, and the CAM records which. Any other queue is loaded in place of the least
;   recently used one, which is written back. Call only in the turn `order`.
#macro queue_entry(address, queue)
.begin
    .reg found part entry old where
    cam_lookup[found, queue]
    br_bset[found, 7, hit#], defer[2]
    alu[part, found, AND, 0x78]
    alu_shf[address, queues, OR, part, <<21]

    alu_shf[entry, 0xf, AND, found, >>3]
    cam_read_state[old, entry]
    alu[--, --, B, old]
    beq[unused#]
    cam_read_tag[old, entry]
    alu_shf[where, --, B, old, <<2]
    alu[where, where, +, queue_table]
    sram[wr_qdesc, --, address, where]
unused#:
    cam_write[entry, queue, 1]
    alu_shf[where, --, B, queue, <<2]
    alu[where, where, +, queue_table]
    sram[rd_qdesc_head, $head, address, where, 2], ctx_swap[loaded]
    sram[rd_qdesc_other, --, address, where]
hit#:
.end
#endm

.num_contexts 8

.reg read $slot0 $slot1 $slot2
.xfer_order $slot0 $slot1 $slot2
.reg write $next
.reg $in $out $in_packets $out_packets

.reg read $request $link
.reg read $head $count
.xfer_order $head $count
.reg read $length $input $output
.xfer_order $length $input $output
.reg write $packet $bytes
.xfer_order $packet $bytes
#if (QUEUE_MANAGER > 0)
.reg write $came $went
#endif

.sig volatile look near order send
.sig volatile rung
.sig seen asked published got sent loaded
.sig in_counted out_counted in_packets out_packets

; Shared by the contexts: the number expected next, and the number that the next
; context to look will try, on the assumption that those before it find theirs.
.reg @expected @issued
#ifdef RESTS_GROW
; How many contexts found nothing in their last round, and the next rest in steps.
.reg @idle @rest
#endif

.reg queues queue_table queue_counters slots next_slot free_queue dequeue_ring tx_ring
.reg pass_near one

    immed[one, 1]

    ; Sixteen entries of the Q-array for each queue manager.
    load_constant(queues, (BUFFER_CHANNEL_BASE | (QUEUE_MANAGER << 28)))
    load_constant(queue_table, ((QUEUE_TABLE & 0x3fffffff) / 4))
    load_constant(queue_counters, QUEUE_COUNTERS)
    load_constant(slots, SEQUENCE_SLOTS)
    load_constant(next_slot, (NEXT_SLOT + (4 * QUEUE_MANAGER)))
    load_constant(free_queue, FREE_BUFFERS)
#if (QUEUE_MANAGER > 0)
.reg notice_ring
    immed[notice_ring, NOTICE_RING]
    immed[dequeue_ring, DEQUEUE_RING_1]
#else
    immed[dequeue_ring, DEQUEUE_RING]
#endif
    immed[tx_ring, TX_RING]

    ; `near` goes to the context after the next.
    local_csr_rd[ACTIVE_CTX_STS]
    immed[pass_near, 0]
    alu[pass_near, pass_near, +, 2]
    alu[pass_near, pass_near, AND, 7]
    alu[pass_near, pass_near, OR, (&near << 3)]
    br!=ctx[0, round#]
    immed[@expected, FIRST_SEQUENCE]
    immed[@issued, FIRST_SEQUENCE]
#ifdef RESTS_GROW
    immed[@idle, 0]
    immed[@rest, REST]
#endif

.begin
    .reg record work
    immed[record, 0]
#define_eval N 0
#while (N < (PORT_COUNT * CLASSES))
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[record, record, +, (1 << QUEUE_RECORD_SHIFT)]
    nop
    nop
    immed[*l$index0[QUEUE_DEPTH], 0]
    immed[*l$index0[QUEUE_OCTETS], 0]
    immed[*l$index0[QUEUE_AVERAGE], 0]
    immed[*l$index0[QUEUE_EMPTIED], 0]
#if (EARLY_DETECTION)
    load_constant(work, (RED_LEAST << RED_SHIFT))
    alu[*l$index0[QUEUE_LEAST], --, B, work]
    load_constant(work, (RED_MOST << RED_SHIFT))
    alu[*l$index0[QUEUE_MOST], --, B, work]
#endif
    load_constant(work, QUEUE_LIMIT)
    alu[*l$index0[QUEUE_ROOM], --, B, work]
#define_eval N (N + 1)
#endloop
    cam_clear
    turn_start(order)
    turn_start(send)
    turn_start(look)
    turn_start(near)
    local_csr_wr[SAME_ME_SIGNAL, (1 | (&near << 3))]
    .set_sig near
.end

round#:
.begin
    .reg sequence place next tag queue request address handle meta record notice port depth
#if (EARLY_DETECTION)
    .reg average
#endif
    .reg part work length counter counter_out length_out
    ; Neither is used in a round without a packet to enqueue.
    .set length counter

    ctx_arb[look, near]
    alu[sequence, --, B, @issued]
    alu[place, sequence, AND, (SLOTS - 1)]
    alu_shf[place, --, B, place, <<4]
    scratch[read, $slot0, slots, place, 3], sig_done[seen]
    scratch[get, $request, dequeue_ring, 0, 1], sig_done[asked]
    alu[next, sequence, +, 1]
    ld_field[next, 1100, 0]
    alu[@issued, --, B, next]
    turn_pass(look)
    ctx_arb[seen, asked, order]
found#:
    local_csr_wr[SAME_ME_SIGNAL, pass_near]
    .set_sig near

    ; ---- enqueue, if the slot holds the number expected next ----
    alu[--, sequence, XOR, @expected]
    bne[idle#], defer[1]
    immed[work, 0]
    alu_shf[tag, --, B, $slot0, >>16]
    alu[--, tag, XOR, sequence]
    bne[late#]
    immed[work, 1]
    alu[@expected, --, B, next]
    alu[$next, --, B, next]
    br_bset[$slot0, SLOT_SKIP_BIT, done#], defer[1]
    immed[counter, 0]
#if (QUEUE_MANAGERS > 1)
    ; The queue belongs to the other queue manager.
#if (QUEUE_MANAGER == 0)
    br_bset[$slot0, CLASS_SHIFT, done#]
#else
    br_bclr[$slot0, CLASS_SHIFT, done#]
#endif
#endif

    alu[queue, $slot0, AND, 0xff]
    alu_shf[record, --, B, queue, <<QUEUE_RECORD_SHIFT]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[handle, --, B, $slot1]
    alu[length, --, B, $slot2]
    alu_shf[notice, queue, OR, length, <<8]
    alu_shf[counter, --, B, queue, <<QUEUE_COUNTERS_SHIFT]
    alu[counter, counter, +, queue_counters]
    queue_entry(address, queue)

#if (EARLY_DETECTION)
    alu[average, --, B, *l$index0[QUEUE_AVERAGE]]
    alu[depth, --, B, *l$index0[QUEUE_DEPTH]]
    beq[empty#]
averaged#:
    alu_shf[part, --, B, average, >>RED_SHIFT]
    alu[average, average, -, part]
    alu[average, average, +, depth]
    alu[*l$index0[QUEUE_AVERAGE], --, B, average]
    alu[--, average, -, *l$index0[QUEUE_LEAST]]
    bhs[early#]
checked#:
#else
    alu[depth, --, B, *l$index0[QUEUE_DEPTH]]
#endif
    alu[part, length, +, *l$index0[QUEUE_OCTETS]]
    alu[--, *l$index0[QUEUE_ROOM], -, part]
    blo[dropped#]
    alu[*l$index0[QUEUE_OCTETS], --, B, part]
    alu[*l$index0[QUEUE_DEPTH], depth, +, 1]
    sram[enqueue, --, address, handle]
    wide_add(counter, QUEUE_IN_PACKETS, one, $in_packets, in_packets)
    wide_add(counter, QUEUE_IN_BYTES, length, $in, in_counted)
notify#:
#if (QUEUE_MANAGER > 0)
    br_inp_state[NOTICE_RING_STATUS, unheard#]
    alu[$came, --, B, notice]
    ; No signal is free, so `rung` is used; the context cannot rest before this is done.
    scratch[put, $came, notice_ring, 0, 1], sig_done[rung]
#else
    br_inp_state[NN_FULL, unheard#]
    alu[*n$index++, --, B, notice]
#endif
done#:
    scratch[write, $next, next_slot, 0, 1], sig_done[published]
idle#:

    ; ---- dequeue, if there is a request from the scheduler ----
    alu[request, --, B, $request]
    beq[unasked#]
    alu[queue, request, AND, 0xff]
    queue_entry(address, queue)
    sram[dequeue, $link, address, 0], sig_done[got]
    turn_pass(order)
    ctx_arb[got]
    ld_field_w_clr[handle, 0111, $link]
    metadata_address(meta, handle)
    sram[read, $length, meta, META_LENGTH, 3], ctx_swap[got]
    alu_shf[record, --, B, queue, <<QUEUE_RECORD_SHIFT]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu_shf[port, --, B, $output, >>24]
    alu_shf[$packet, handle, OR, port, <<24]
    alu[length_out, --, B, $length]
    alu[$bytes, --, B, length_out]
    alu[*l$index0[QUEUE_OCTETS], *l$index0[QUEUE_OCTETS], -, length_out]
    alu[depth, *l$index0[QUEUE_DEPTH], -, 1]
    bne[more#], defer[1]
    alu[*l$index0[QUEUE_DEPTH], --, B, depth]
    time_now(depth)
    alu[*l$index0[QUEUE_EMPTIED], --, B, depth]
more#:
    alu_shf[notice, queue, OR, length_out, <<8]
    alu_shf[notice, notice, OR, 1, <<SENT_BIT]

    alu_shf[counter_out, --, B, queue, <<QUEUE_COUNTERS_SHIFT]
    alu[counter_out, counter_out, +, queue_counters]
    wide_add(counter_out, QUEUE_OUT_PACKETS, one, $out_packets, out_packets)
    wide_add(counter_out, QUEUE_OUT_BYTES, length_out, $out, out_counted)

#if (QUEUE_MANAGER > 0)
    ctx_arb[send, out_packets]
#else
    ctx_arb[send]
#endif
tell#:
#if (QUEUE_MANAGER > 0)
    br_inp_state[NOTICE_RING_STATUS, untold#]
    alu[$went, --, B, notice]
    scratch[put, $went, notice_ring, 0, 1], sig_done[seen]
#else
    br_inp_state[NN_FULL, untold#]
    alu[*n$index++, --, B, notice]
#endif
give#:
    br_inp_state[TX_RING_STATUS, congested#]
    scratch[put, $packet, tx_ring, 0, 2], sig_done[sent]
    turn_pass(send)
#if (QUEUE_MANAGER > 0)
    ctx_arb[sent, out_counted, seen]
#else
    ctx_arb[sent, out_counted, out_packets]
#endif
    wide_carry(counter_out, QUEUE_OUT_PACKETS, one, $out_packets)
    wide_carry(counter_out, QUEUE_OUT_BYTES, length_out, $out)
    alu[--, --, B, work]
    beq[round#]
fed#:
    ctx_arb[published]
    alu[--, --, B, counter]
    beq[round#]
#if (QUEUE_MANAGER > 0)
    ctx_arb[in_counted, in_packets, rung]
#else
    ctx_arb[in_counted, in_packets]
#endif
    wide_carry(counter, QUEUE_IN_PACKETS, one, $in_packets)
    wide_carry(counter, QUEUE_IN_BYTES, length, $in)
    br[round#]

unasked#:
    turn_pass(order)
    ctx_arb[send]
    turn_pass(send)
    alu[--, --, B, work]
    bne[fed#]
#ifdef RESTS_GROW
    alu[@idle, @idle, +, 1]
resting#:
    ctx_arb[look, near]
    ctx_arb[order]
    alu[--, @idle, -, 8]
    bne[awake#]
    rest_for(@rest, rung)
awake#:
    alu[sequence, --, B, @issued]
    alu[place, sequence, AND, (SLOTS - 1)]
    alu_shf[place, --, B, place, <<4]
    scratch[read, $slot0, slots, place, 3], sig_done[seen]
    scratch[get, $request, dequeue_ring, 0, 1], sig_done[asked]
    alu[next, sequence, +, 1]
    ld_field[next, 1100, 0]
    alu[@issued, --, B, next]
    turn_pass(look)
    ctx_arb[seen, asked]
    alu_shf[tag, --, B, $slot0, >>16]
    alu[--, tag, XOR, sequence]
    beq[woken#]
    alu[--, --, B, $request]
    bne[woken#]
    alu[@issued, --, B, sequence]
    local_csr_wr[SAME_ME_SIGNAL, pass_near]
    .set_sig near
    turn_pass(order)
    ctx_arb[send]
    turn_pass(send)
    br[resting#]
woken#:
    alu[@idle, @idle, -, 1]
    br[found#], defer[1]
    immed[@rest, REST]
#else
    timer_wait(REST, rung)
    br[round#]
#endif

late#:
    ; The next context to look tries this number again.
    br[idle#], defer[1]
    alu[@issued, --, B, sequence]

unheard#:
    ctx_arb[voluntary]
    br[notify#]
untold#:
    ctx_arb[voluntary]
    br[tell#]
congested#:
    ctx_arb[voluntary]
    br[give#]

#if (EARLY_DETECTION)
empty#:
    ; The average decays while the queue is empty.
    time_now(part)
    alu[part, part, -, *l$index0[QUEUE_EMPTIED]]
    alu_shf[part, --, B, part, >>IDLE_SHIFT]
    alu[--, part, -, 16]
    bhs[long#]
    alu[--, part, OR, 0]
    alu_shf[average, --, B, average, >>indirect]
    br[averaged#]
long#:
    br[averaged#], defer[1]
    immed[average, 0]

early#:
    alu[--, average, -, *l$index0[QUEUE_MOST]]
    bhs[dropped#]
    alu[part, average, -, *l$index0[QUEUE_LEAST]]
    alu_shf[part, --, B, part, >>RED_SHIFT]
    local_csr_rd[PSEUDO_RANDOM_NUMBER]
    immed[tag, 0]
#ifdef RED_CHANCE
    ; In units of 2^-24: packets beyond RED_LEAST, at most 15 bits, times the probability
    ; that each adds, at most 24 bits; the product is less than RED_CHANCE << 14.
    load_constant(work, ((RED_CHANCE << 14) / (RED_MOST - RED_LEAST)))
    mul_step[part, work], 32x32_start
    mul_step[part, work], 32x32_step1
    mul_step[part, work], 32x32_step2
    mul_step[part, work], 32x32_step3
    mul_step[part, work], 32x32_step4
    mul_step[part, --], 32x32_last
    immed[work, 1]
    alu_shf[tag, --, B, tag, >>8]
#else
    alu[tag, tag, AND, 0xff]
#endif
    alu[--, tag, -, part]
    bhs[checked#]
#endif
dropped#:
    sram[incr, --, counter, QUEUE_DROPPED]
    immed[counter, 0]
    immed[tag, DROP_QUEUE]
    scratch[incr, --, tag, 0]
    buffer_return(handle, free_queue)
    br[done#]
.end
