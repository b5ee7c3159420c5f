; queue_manager.uc: the queue manager, on the SRAM controller's Q-array. Eight
; contexts of one microengine.
;
; A round of a context: look into the slot of its next number and take a request
; of the scheduler; then, in turn, put the slot's packet into its queue and
; begin to get the requested one out of its own; then, in turn again, give that
; one to the transmit stage. Either half may have nothing to do. The scheduler
; hears of both on the next-neighbour ring.
;
;   order  enqueue and dequeue
;   send   hand on what was dequeued, in the same order

#include "constant.uc"
#include "timer.uc"
#include "turn.uc"
#include "buffer.uc"
#include "../router.uc"

; A queue's counters in SRAM, 16 bytes at QUEUE_COUNTERS + queue * 16: packets and
; bytes put into it, packets dropped.
#define QUEUE_BYTES   4
#define QUEUE_DROPPED 8

; A queue's record in local memory, 16 bytes at queue * 16.
#define QUEUE_DEPTH   0     ; packets in it
#define QUEUE_AVERAGE 1     ; their average << RED_SHIFT

; Random early detection (RFC 2309), in packets: below RED_LEAST none is
; dropped; from there to RED_MOST the chance grows to RED_MOST - RED_LEAST in
; 256; beyond, and in a queue of QUEUE_LIMIT, all are.
#define RED_SHIFT   6
#define RED_LEAST   48
#define RED_MOST    112
#define QUEUE_LIMIT 128

; Steps of 16 cycles that a context rests after a round with nothing to do.
#define REST 2

; What makes an atomic's operand ride in the command (override of count and byte
; mask, no pull): bits 7-0 of it in 19-12, bits 10-8 in 23-21.
#define ADD_IMMEDIATE 0x03100000

; queue_entry(address, queue)
;   address <- channel and Q-array entry of a queue, as enqueue and dequeue take
;   them. The Q-array's first sixteen entries hold the queues used last; the CAM
;   knows which. A queue that is not among them is loaded over the one that was
;   not used for longest, which is written back. For use in the turn `order`.
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

.reg read $request $link
.reg read $head $count
.xfer_order $head $count
.reg read $length $input $output
.xfer_order $length $input $output
.reg write $packet $bytes
.xfer_order $packet $bytes

.sig volatile order send
.sig volatile rung
.sig seen asked published got sent loaded

; Shared by the contexts: the number that comes next.
.reg @expected

.reg queues queue_table queue_counters slots next_slot free_queue dequeue_ring tx_ring
.reg red_least red_most no_pull
.reg sequence place

    load_constant(queues, BUFFER_CHANNEL_BASE)
    load_constant(queue_table, ((QUEUE_TABLE & 0x3fffffff) / 4))
    load_constant(queue_counters, QUEUE_COUNTERS)
    load_constant(slots, SEQUENCE_SLOTS)
    load_constant(next_slot, NEXT_SLOT)
    load_constant(free_queue, FREE_BUFFERS)
    immed[dequeue_ring, DEQUEUE_RING]
    immed[tx_ring, TX_RING]
    load_constant(red_least, (RED_LEAST << RED_SHIFT))
    load_constant(red_most, (RED_MOST << RED_SHIFT))
    load_constant(no_pull, ADD_IMMEDIATE)

    ; A context has every eighth number.
    local_csr_rd[ACTIVE_CTX_STS]
    immed[sequence, 0]
    alu[sequence, sequence, AND, 7]
    alu_shf[place, --, B, sequence, <<4]
    immed[@expected, FIRST_SEQUENCE]
    br!=ctx[0, round#], defer[1]
    alu[sequence, sequence, +, @expected]

.begin
    .reg record
    immed[record, 0]
#define_eval N 0
#while (N < (PORT_COUNT * CLASSES))
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[record, record, +, 16]
    nop
    nop
    immed[*l$index0[QUEUE_DEPTH], 0]
    immed[*l$index0[QUEUE_AVERAGE], 0]
#define_eval N (N + 1)
#endloop
    cam_clear
    turn_start(order)
    turn_start(send)
.end

round#:
.begin
    .reg tag queue request address handle meta record notice port depth average
    .reg part work

    scratch[read, $slot0, slots, place, 3], sig_done[seen]
    scratch[get, $request, dequeue_ring, 0, 1], sig_done[asked]
    ctx_arb[seen, asked, order]

    ; ---- into a queue, if the slot has the number that comes next ----
    alu_shf[tag, --, B, $slot0, >>16]
    alu[--, tag, XOR, sequence]
    bne[idle#], defer[1]
    immed[work, 0]
    alu[--, tag, XOR, @expected]
    bne[idle#]
    alu[work, sequence, +, 1]
    ld_field[work, 1100, 0]
    alu[@expected, --, B, work]
    br_bset[$slot0, SLOT_SKIP_BIT, done#], defer[1]
    alu[$next, --, B, work]

    alu[queue, $slot0, AND, 0xff]
    alu_shf[record, --, B, queue, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[handle, --, B, $slot1]
    alu_shf[notice, queue, OR, $slot2, <<8]
    queue_entry(address, queue)

    alu[depth, --, B, *l$index0[QUEUE_DEPTH]]
    alu[average, --, B, *l$index0[QUEUE_AVERAGE]]
    alu_shf[part, --, B, average, >>RED_SHIFT]
    alu[average, average, -, part]
    alu[average, average, +, depth]
    alu[*l$index0[QUEUE_AVERAGE], --, B, average]
    alu[--, average, -, red_least]
    bhs[early#]
    alu[--, depth, -, QUEUE_LIMIT]
    bhs[dropped#]
admitted#:
    alu[*l$index0[QUEUE_DEPTH], depth, +, 1]
    sram[enqueue, --, address, handle]
    sram[incr, --, queue_counters, record]
    alu[record, record, +, QUEUE_BYTES]
    alu[part, $slot2, AND, 0xff]
    alu_shf[part, no_pull, OR, part, <<12]
    alu_shf[depth, --, B, $slot2, >>8]
    alu_shf[--, part, OR, depth, <<21]
    sram[add, --, queue_counters, record], indirect_ref
notify#:
    br_inp_state[NN_FULL, unheard#]
    alu[*n$index++, --, B, notice]
done#:
    scratch[write, $next, next_slot, 0, 1], sig_done[published]
    alu[sequence, sequence, +, 8]
    ld_field[sequence, 1100, 0]
    alu[place, sequence, AND, (SLOTS - 1)]
    alu_shf[place, --, B, place, <<4]
idle#:

    ; ---- out of a queue, if the scheduler asks ----
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
    alu_shf[record, --, B, queue, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu_shf[port, --, B, $output, >>24]
    alu_shf[$packet, handle, OR, port, <<24]
    alu[$bytes, --, B, $length]
    alu[*l$index0[QUEUE_DEPTH], *l$index0[QUEUE_DEPTH], -, 1]
    alu_shf[notice, queue, OR, $length, <<8]
    alu_shf[notice, notice, OR, 1, <<SENT_BIT]

    ctx_arb[send]
tell#:
    br_inp_state[NN_FULL, untold#]
    alu[*n$index++, --, B, notice]
give#:
    br_inp_state[TX_RING_STATUS, congested#]
    scratch[put, $packet, tx_ring, 0, 2], sig_done[sent]
    turn_pass(send)
    alu[--, --, B, work]
    bne[both#]
    ctx_arb[sent]
    br[round#]
both#:
    ctx_arb[sent, published]
    br[round#]

unasked#:
    turn_pass(order)
    ctx_arb[send]
    turn_pass(send)
    alu[--, --, B, work]
    bne[fed#]
    timer_wait(REST, rung)
    br[round#]
fed#:
    ctx_arb[published]
    br[round#]

unheard#:
    ctx_arb[voluntary]
    br[notify#]
untold#:
    ctx_arb[voluntary]
    br[tell#]
congested#:
    ctx_arb[voluntary]
    br[give#]

early#:
    alu[--, average, -, red_most]
    bhs[dropped#]
    alu[part, average, -, red_least]
    alu_shf[part, --, B, part, >>RED_SHIFT]
    local_csr_rd[PSEUDO_RANDOM_NUMBER]
    immed[tag, 0]
    alu[tag, tag, AND, 0xff]
    alu[--, tag, -, part]
    blo[dropped#]
    alu[--, depth, -, QUEUE_LIMIT]
    blo[admitted#]
dropped#:
    alu[record, record, +, QUEUE_DROPPED]
    sram[incr, --, queue_counters, record]
    immed[tag, DROP_QUEUE]
    scratch[incr, --, tag, 0]
    buffer_return(handle, free_queue)
    br[done#]
.end
