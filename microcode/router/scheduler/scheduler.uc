; scheduler.uc: decides which queue sends next. One context.
;
; Ports take turns. Within a port, classes share the line by surplus round
; robin: a class sends while its credit is not negative, and is charged for a packet
; when the queue manager reports its length. No more is requested for a port than it
; can send: the port's clock advances by each packet's time on the line, and the port
; waits while its clock is too far ahead.
;
; With QUEUE_MANAGERS = 2 the second queue manager owns every other port's queues: it
; receives requests on a ring of its own and answers on NOTICE_RING.

#include "constant.uc"
#include "timer.uc"
#include "../router.uc"
#include "../rest.uc"

#ifndef QUEUE_MANAGERS
#define QUEUE_MANAGERS 1
#endif

; A queue's record in local memory, 16 bytes at queue * 16.
#define QUEUE_WAITING 0     ; packets in the queue that have not been requested
#define QUEUE_CREDIT  1     ; bytes, may be negative after the last packet
#define QUEUE_QUANTUM 2     ; bytes added per round

; A port's record, 16 bytes at PORT_RECORDS + port * 16; 32 if any port is slow.
#define PORT_RECORDS  0x400
#define PORT_CLOCK    0     ; cycle from which the port may have another request
#define PORT_CLASS    1     ; the class whose round it is
#define PORT_ASKED    2     ; unanswered requests
#define PORT_BYTE     3     ; cycles << BYTE_FRACTION of a byte on the line
#define PORT_LIMIT    4     ; limit of unanswered requests; only if any port is slow

#define BYTE_FRACTION 4

; Bytes on the line in addition to the frame: check sequence, preamble, gap.
#define LINE_OVERHEAD 24

; Limits on a port's outstanding requests: cycles of its line, and requests. Its clock
; stands AHEAD_CYCLES before the cycle in which the line will be free, and that cycle is
; taken to be at most BEHIND_CYCLES in the past, about the time of the requests that may
; be outstanding: a length is known only when its request is answered.
#define AHEAD_CYCLES  2000
#define BEHIND_CYCLES 4000
#ifndef ASKED_LIMIT
#define ASKED_LIMIT   8
#endif
#if ((ASKED_LIMIT < 1) || (ASKED_LIMIT > 64))
#error "ASKED_LIMIT: 1 to 64 requests of a port"
#endif

; Data that exceeds the room in a port's transmit FIFO, 4 KB, blocks everything behind it
; in TBUF, including data for other ports. A slow port, whose line takes longer than
; SLOW_MICROSECONDS for a full frame, gets one request at a time: its clock then accounts
; for all frames in flight except one, and the FIFO has room for that one.
#define SLOW_MICROSECONDS 20
#define FULL_FRAME    1518

; port_judged(n)
;   Sets SLOW to whether port n is slow.
#macro port_judged(n)
#define_eval SLOW (((FULL_FRAME + LINE_OVERHEAD) * 8) > (SLOW_MICROSECONDS * PORT/**/n/**/_MBPS))
#endm

; port_counted(n)
;   Adds port n to the count SLOW_PORTS if it is slow.
#macro port_counted(n)
#if ((ME_MHZ * (8 << BYTE_FRACTION)) > (65535 * PORT/**/n/**/_MBPS))
#error "the rate of a port is too low for the scheduler: at least 3 Mb/s, or 2 Mb/s at 600 MHz"
#endif
    port_judged(n)
#if (SLOW)
#define_eval SLOW_PORTS (SLOW_PORTS + 1)
#endif
#endm

#define SLOW_PORTS 0
#define_eval N 0
#while (N < PORT_COUNT)
    port_counted(N)
#define_eval N (N + 1)
#endloop
#if (SLOW_PORTS)
#define PORT_RECORD_SHIFT 5
#else
#define PORT_RECORD_SHIFT 4
#endif

; Cycles are counted in 32 bits. A clock that appears to be 2^CLOCK_REACH cycles ahead or
; more is really behind, such as that of a port that has long been idle: no port can be
; that far ahead, even with eight full frames at 10 Mb/s.
#define CLOCK_REACH   24

; Steps of 16 cycles that the scheduler rests when it finds nothing to do; the initial
; number where REST_LONGEST lets rests grow.
#define REST 2
#if (REST_LONGEST > REST)
#define RESTS_GROW
; Cycles between two polls for the answer that a port is waiting for.
#define ANSWER_CYCLES 64
#endif

; Bytes per round of class 0; classes 1, 2 and 3 get 2, 3 and 4 times as many.
#define QUANTUM 1536

.num_contexts 8

.reg write $request
.sig volatile rung asked
#if (QUEUE_MANAGERS > 1)
.reg read $heard
.sig volatile heard
.reg ring notice_ring second_ring
#endif

    br=ctx[0, start#]
    ctx_arb[kill]
start#:
.begin
    .reg waiting last dequeue_ring value record notice queue port bits one
    .reg now clock count credit set second mask class length ahead byte
    .reg after above port_records behind class_mask
#ifdef RESTS_GROW
    .reg rest soonest
#endif

; port_set_up(n)
;   Initialises the records of port n and its queues; advances `record` past the queues.
#macro port_set_up(n)
    immed[value, (PORT_RECORDS + (n << PORT_RECORD_SHIFT))]
    local_csr_wr[ACTIVE_LM_ADDR_1, value]
    immed[value, ((ME_MHZ * (8 << BYTE_FRACTION)) / PORT/**/n/**/_MBPS)]
    nop
    nop
    alu[*l$index1[PORT_BYTE], --, B, value]
    alu[*l$index1[PORT_CLOCK], --, B, clock]
    immed[*l$index1[PORT_CLASS], 0]
    immed[*l$index1[PORT_ASKED], 0]
#if (SLOW_PORTS)
    port_judged(n)
#if (SLOW)
    immed[*l$index1[PORT_LIMIT], 1]
#else
    immed[*l$index1[PORT_LIMIT], ASKED_LIMIT]
#endif
#endif
#define_eval K 1
#while (K <= CLASSES)
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[record, record, +, 16]
    immed[value, (QUANTUM * K)]
    nop
    alu[*l$index0[QUEUE_QUANTUM], --, B, value]
    alu[*l$index0[QUEUE_CREDIT], --, B, value]
    immed[*l$index0[QUEUE_WAITING], 0]
#define_eval K (K + 1)
#endloop
#endm

    immed[record, 0]
    immed[clock, (0 - AHEAD_CYCLES)]
#define_eval N 0
#while (N < PORT_COUNT)
    port_set_up(N)
#define_eval N (N + 1)
#endloop
#ifdef RESTS_GROW
    immed[rest, REST]
#endif
    immed[waiting, 0]
    immed[after, 0]
    immed[port_records, PORT_RECORDS]
    immed[behind, (BEHIND_CYCLES + AHEAD_CYCLES)]
    immed[class_mask, ((1 << CLASSES) - 1)]
    ; All queues except those of the first port.
    alu[above, --, ~B, class_mask]
    immed[dequeue_ring, DEQUEUE_RING]
    immed[one, 1]
#if (QUEUE_MANAGERS > 1)
    immed[notice_ring, NOTICE_RING]
    immed[second_ring, DEQUEUE_RING_1]
    scratch[get, $heard, notice_ring, 0, 1], sig_done[heard]
#endif
    ; There is no earlier request that the first one would have to wait for.
    local_csr_wr[SAME_ME_SIGNAL, (&asked << 3)]
    .set_sig asked

    ; ---- notices from the queue manager ----
listen#:
#if (QUEUE_MANAGERS > 1)
    br_!signal[heard, near#]
    alu[notice, --, B, $heard]
    scratch[get, $heard, notice_ring, 0, 1], sig_done[heard]
    alu[--, --, B, notice]
    bne[heard#]
near#:
#endif
    br_inp_state[NN_EMPTY, choose#]
    alu[notice, --, B, *n$index++]
heard#:
#ifdef RESTS_GROW
    immed[rest, REST]
#endif
    alu[queue, notice, AND, 0xff]
    alu_shf[record, --, B, queue, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    br_bset[notice, SENT_BIT, sent#], defer[2]
    alu[--, queue, OR, 0]
    alu_shf[bits, --, B, one, <<indirect]

    br[listen#], defer[2]
    alu[waiting, waiting, OR, bits]
    alu[*l$index0[QUEUE_WAITING], *l$index0[QUEUE_WAITING], +, 1]

sent#:
    ; Charge the class, and advance the port's clock.
    alu_shf[port, --, B, queue, >>CLASS_SHIFT]
    alu_shf[record, port_records, OR, port, <<PORT_RECORD_SHIFT]
    local_csr_wr[ACTIVE_LM_ADDR_1, record]
    alu_shf[length, --, B, notice, <<1]
    alu_shf[length, --, B, length, >>9]
    alu[*l$index0[QUEUE_CREDIT], *l$index0[QUEUE_CREDIT], -, length]
    alu[*l$index1[PORT_ASKED], *l$index1[PORT_ASKED], -, 1]
    alu[length, length, +, LINE_OVERHEAD]
    alu[byte, --, B, *l$index1[PORT_BYTE]]
    mul_step[length, byte], 16x16_start
    mul_step[length, byte], 16x16_step1
    mul_step[length, byte], 16x16_step2
    mul_step[length, --], 16x16_last
    time_now(now)
    alu_shf[now, --, B, now, <<4]
    alu[now, now, -, behind]
    alu[ahead, *l$index1[PORT_CLOCK], -, now]
    alu_shf[--, --, B, ahead, >>CLOCK_REACH]
    beq[ahead#], defer[1]
    alu_shf[length, --, B, length, >>BYTE_FRACTION]
    alu[*l$index1[PORT_CLOCK], --, B, now]
ahead#:
    br[listen#], defer[1]
    alu[*l$index1[PORT_CLOCK], *l$index1[PORT_CLOCK], +, length]

    ; ---- choose the port, starting after the last one served ----
choose#:
#ifdef RESTS_GROW
    ; Approximate cycles until the first port with packets may have a request.
    alu[soonest, --, ~B, 0]
#endif
    alu[second, --, B, waiting]
    beq[rest#]
    alu[set, waiting, AND, after]
    bne[try#]
around#:
    alu[set, --, B, second]
    beq[rest#]
    immed[second, 0]
try#:
    ffs[queue, set]
    alu_shf[port, --, B, queue, >>CLASS_SHIFT]
    alu_shf[record, port_records, OR, port, <<PORT_RECORD_SHIFT]
    local_csr_wr[ACTIVE_LM_ADDR_1, record]
    time_now(now)
    alu_shf[now, --, B, now, <<4]
    alu[count, --, B, *l$index1[PORT_ASKED]]
#if (SLOW_PORTS)
    alu[--, count, -, *l$index1[PORT_LIMIT]]
#else
    alu[--, count, -, ASKED_LIMIT]
#endif
#ifdef RESTS_GROW
    bhs[answer#]
#else
    bhs[not_now#]
#endif
    alu[ahead, *l$index1[PORT_CLOCK], -, now]
    alu_shf[--, --, B, ahead, >>CLOCK_REACH]
    bne[serve#], defer[1]
    alu[class, --, B, *l$index1[PORT_CLASS]]
#ifdef RESTS_GROW
    alu[--, ahead, -, soonest]
    bhs[not_now#]
    br[not_now#], defer[1]
    alu[soonest, --, B, ahead]
answer#:
    ; An answer is pending.
    immed[soonest, ANSWER_CYCLES]
#endif
not_now#:
    ; Remove this port's queues.
    alu_shf[queue, --, B, port, <<CLASS_SHIFT]
    alu[--, queue, OR, 0]
    alu_shf[mask, --, B, class_mask, <<indirect]
    alu[set, set, AND~, mask]
    bne[try#]
    br[around#]

    ; ---- choose the class: the current one while it has credit ----
serve#:
    alu_shf[queue, class, OR, port, <<CLASS_SHIFT]
    alu_shf[record, --, B, queue, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, record]
    alu[--, queue, OR, 0]
    alu_shf[bits, one, AND, waiting, >>indirect]
    beq[next_class#]
    alu[credit, --, B, *l$index0[QUEUE_CREDIT]]
    bmi[round#]
    alu[count, *l$index0[QUEUE_WAITING], -, 1]
    bne[more#], defer[1]
    alu[*l$index0[QUEUE_WAITING], --, B, count]
    alu[--, queue, OR, 0]
    alu_shf[bits, --, B, one, <<indirect]
    alu[waiting, waiting, AND~, bits]
more#:
    alu[*l$index1[PORT_CLASS], --, B, class]
    alu[*l$index1[PORT_ASKED], *l$index1[PORT_ASKED], +, 1]
    ; The next search begins at the port after this one: with the queues above this
    ; port's last one.
#ifdef RESTS_GROW
    immed[rest, REST]
#endif
    alu_shf[last, --, B, port, <<CLASS_SHIFT]
    alu[--, last, OR, 0]
    alu_shf[after, --, B, above, <<indirect]
#if (QUEUE_MANAGERS > 1)
    br_bclr[queue, CLASS_SHIFT, first#], defer[1]
    alu[ring, --, B, dequeue_ring]
    alu[ring, --, B, second_ring]
first#:
    ctx_arb[asked]
    br[listen#], defer[2]
    alu_shf[$request, queue, OR, 1, <<SENT_BIT]
    scratch[put, $request, ring, 0, 1], sig_done[asked]
#else
    ctx_arb[asked]
    br[listen#], defer[2]
    alu_shf[$request, queue, OR, 1, <<SENT_BIT]
    scratch[put, $request, dequeue_ring, 0, 1], sig_done[asked]
#endif

round#:
    ; The queue's round is over; add its quantum for the next one.
    alu[*l$index0[QUEUE_CREDIT], credit, +, *l$index0[QUEUE_QUANTUM]]
next_class#:
    alu[class, class, +, 1]
    br[serve#], defer[1]
    alu[class, class, AND, (CLASSES - 1)]

rest#:
#ifdef RESTS_GROW
    ; Do not rest beyond the time at which a port may have a request.
    alu_shf[soonest, --, B, soonest, >>4]
    alu[soonest, soonest, +, REST]
    alu[--, soonest, -, rest]
    bhs[whole#]
    timer_wait(soonest, rung)
    br[listen#]
whole#:
    rest_for(rest, rung)
#else
    timer_wait(REST, rung)
#endif
    br[listen#]
.end
