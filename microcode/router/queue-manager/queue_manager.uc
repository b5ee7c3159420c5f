; queue_manager.uc: the queue manager, on the SRAM controller's Q-array.
;
; Contexts 0 to 3 take the slots of the processing stage in the order of their
; numbers and put packets into their queues. Contexts 4 to 7 take the
; scheduler's requests, get packets out of queues and give them to the transmit
; stage. The scheduler hears of both on the next-neighbour ring.

#include "constant.uc"
#include "timer.uc"
#include "buffer.uc"
#include "../router.uc"
#include "../take.uc"

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

; Contexts that enqueue; the others dequeue.
#define ENQUEUERS 4

; Steps of 16 cycles between two looks at a slot that is not filled yet.
#define SLOT_GAP 1

.num_contexts 8

.reg read $slot0 $slot1 $slot2
.xfer_order $slot0 $slot1 $slot2
.reg write $next

.reg read $request $link
.reg read $length $input $output $next_hop $stamp
.xfer_order $length $input $output $next_hop $stamp
.reg write $packet $packet_length $packet_hop $packet_stamp
.xfer_order $packet $packet_length $packet_hop $packet_stamp

.sig volatile order ask send
.sig volatile rung
.sig got published sent

.reg @red_least @red_most @busy

.reg context queues

    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    load_constant(queues, FIRST_QUEUE)
    br!=ctx[0, part#]
.begin
    .reg record
    load_constant(@red_least, (RED_LEAST << RED_SHIFT))
    load_constant(@red_most, (RED_MOST << RED_SHIFT))
    immed[@busy, 0]
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
    ; The turns start at contexts 0 and 4.
    local_csr_wr[SAME_ME_SIGNAL, (&order << 3)]
    .set_sig order
    local_csr_wr[SAME_ME_SIGNAL, (ENQUEUERS | (&ask << 3))]
    .set_sig ask
    local_csr_wr[SAME_ME_SIGNAL, (ENQUEUERS | (&send << 3))]
    .set_sig send
.end
part#:
    alu[--, context, -, ENQUEUERS]
    bhs[dequeuer#]

    ; ---- into the queues ----
.begin
    .reg sequence place tag pass queue handle notice address depth record
    .reg average part slots next_slot free_queue

    load_constant(slots, SEQUENCE_SLOTS)
    load_constant(next_slot, NEXT_SLOT)
    load_constant(free_queue, FREE_BUFFERS)
    immed[sequence, FIRST_SEQUENCE]
    alu[sequence, sequence, +, context]
    alu[place, sequence, AND, (SLOTS - 1)]
    alu_shf[place, --, B, place, <<4]
    ; The context after this one: 0 after the last enqueuer.
    alu[pass, context, +, 1]
    alu[pass, pass, AND, (ENQUEUERS - 1)]
    alu[pass, pass, OR, (&order << 3)]
    br[read#]

later#:
    timer_wait(SLOT_GAP, rung)
read#:
    scratch[read, $slot0, slots, place, 3], ctx_swap[got]
look#:
    alu_shf[tag, --, B, $slot0, >>16]
    alu[--, tag, XOR, sequence]
    bne[later#]

    ctx_arb[order]
    alu[sequence, sequence, +, 1]
    ld_field[sequence, 1100, 0]
    br_bset[$slot0, SLOT_SKIP_BIT, publish#], defer[1]
    alu[$next, --, B, sequence]

    alu[queue, $slot0, AND, 0xff]
    alu_shf[record, --, B, queue, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[handle, --, B, $slot1]
    alu_shf[notice, queue, OR, $slot2, <<8]
    alu_shf[address, queues, OR, queue, <<24]

    alu[depth, --, B, *l$index0[QUEUE_DEPTH]]
    alu[average, --, B, *l$index0[QUEUE_AVERAGE]]
    alu_shf[part, --, B, average, >>RED_SHIFT]
    alu[average, average, -, part]
    alu[average, average, +, depth]
    alu[*l$index0[QUEUE_AVERAGE], --, B, average]
    alu[--, average, -, @red_least]
    bhs[early#]
    alu[--, depth, -, QUEUE_LIMIT]
    bhs[dropped#]
admitted#:
    alu[*l$index0[QUEUE_DEPTH], depth, +, 1]
    sram[enqueue, --, address, handle]
notify#:
    br_inp_state[NN_FULL, unheard#]
    alu[*n$index++, --, B, notice]

publish#:
    scratch[write, $next, next_slot, 0, 1], sig_done[published]
    local_csr_wr[SAME_ME_SIGNAL, pass]
    .set_sig order
    alu[sequence, sequence, +, (ENQUEUERS - 1)]
    ld_field[sequence, 1100, 0]
    alu[place, sequence, AND, (SLOTS - 1)]
    alu_shf[place, --, B, place, <<4]
    scratch[read, $slot0, slots, place, 3], sig_done[got]
    ctx_arb[got, published]
    br[look#]

unheard#:
    ctx_arb[voluntary]
    br[notify#]

early#:
    alu[--, average, -, @red_most]
    bhs[dropped#]
    alu[part, average, -, @red_least]
    alu_shf[part, --, B, part, >>RED_SHIFT]
    local_csr_rd[PSEUDO_RANDOM_NUMBER]
    immed[tag, 0]
    alu[tag, tag, AND, 0xff]
    alu[--, tag, -, part]
    blo[dropped#]
    alu[--, depth, -, QUEUE_LIMIT]
    blo[admitted#]
dropped#:
    immed[tag, DROP_QUEUE]
    scratch[incr, --, tag, 0]
    buffer_return(handle, free_queue)
    br[publish#]
.end

    ; ---- out of the queues ----
dequeuer#:
.begin
    .reg pass pass_send request queue address handle meta record notice port
    .reg dequeue_ring tx_ring

    immed[dequeue_ring, DEQUEUE_RING]
    immed[tx_ring, TX_RING]

    ; The context after this one: the first dequeuer after the last.
    alu[pass, context, +, 1]
    alu[pass, pass, AND, 7]
    bne[next_known#]
    immed[pass, ENQUEUERS]
next_known#:
    alu[pass_send, pass, OR, (&send << 3)]
    alu[pass, pass, OR, (&ask << 3)]

dequeue#:
    ring_take($request, dequeue_ring, 1, ask, pass, got, rung, @busy)
    alu[request, --, B, $request]
    beq[nothing#]
    alu[queue, request, AND, 0xff]
    alu_shf[address, queues, OR, queue, <<24]
    sram[dequeue, $link, address, 0], ctx_swap[got]
    ld_field_w_clr[handle, 0111, $link]
    metadata_address(meta, handle)
    sram[read, $length, meta, META_LENGTH, 5], ctx_swap[got]
    alu_shf[record, --, B, queue, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu_shf[port, --, B, $output, >>24]
    alu_shf[$packet, handle, OR, port, <<24]
    alu[$packet_length, --, B, $length]
    alu[$packet_hop, --, B, $next_hop]
    alu[$packet_stamp, --, B, $stamp]
    alu[*l$index0[QUEUE_DEPTH], *l$index0[QUEUE_DEPTH], -, 1]
    alu_shf[notice, queue, OR, $length, <<8]
    alu_shf[notice, notice, OR, 1, <<SENT_BIT]

    ctx_arb[send]
tell#:
    br_inp_state[NN_FULL, unheard#]
    alu[*n$index++, --, B, notice]
give#:
    br_inp_state[TX_RING_STATUS, congested#]
    scratch[put, $packet, tx_ring, 0, 4], sig_done[sent]
    local_csr_wr[SAME_ME_SIGNAL, pass_send]
    .set_sig send
    ctx_arb[sent]
    br[dequeue#]

nothing#:
    ctx_arb[send]
    local_csr_wr[SAME_ME_SIGNAL, pass_send]
    .set_sig send
    br[dequeue#]

unheard#:
    ctx_arb[voluntary]
    br[tell#]
congested#:
    ctx_arb[voluntary]
    br[give#]
.end
