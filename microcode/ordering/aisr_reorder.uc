; aisr_reorder.uc: the third stage, a counting sort. Contexts 1 to 7 take packets off
; REORDER_RING and put each in the place of its sequence number, in any order: the
; asynchronous insert. Context 0 walks over the places, waits where one is empty,
; claims elements of TBUF and hands the packet to the transmitter: the synchronous
; remove.
;
; A place is two longwords in scratch: 1 << 31 | port << 24 | buffer, and the length,
; 0 for a packet that goes nowhere. There are more places than buffers, so that two
; packets never meet in one.

#include "constant.uc"
#define CLAIMS_ONLY
#include "claims.uc"
#include "buffer.uc"
#include "stages.uc"

#define PLACES (REORDER_PLACES_SIZE / 8)

.num_contexts 8

.sig got written handed
.reg read $in0 $in1
.xfer_order $in0 $in1
.reg write $out0 $out1 $out2
.xfer_order $out0 $out1 $out2
.reg base ring free_queue

    immed[base, REORDER_PLACES]
    br=ctx[0, remove#]

    immed[ring, REORDER_RING]
insert#:
.begin
    .reg place mark
    ring_take($in0, ring, 2, got, rung)
    alu_shf[mark, --, B, 1, <<31]
    alu[$out0, mark, OR, $in0]
    alu_shf[place, --, B, $in1, >>16]
    alu[place, place, AND, (PLACES - 1)]
    alu_shf[place, --, B, place, <<3]
    ld_field_w_clr[mark, 0011, $in1]
    alu[$out1, --, B, mark]
    scratch[write, $out0, base, place, 2], ctx_swap[written]
    br[insert#]
.end

remove#:
    immed[ring, TX_RING]
    load_constant(free_queue, FREE_BUFFERS)
    immed[@left, 0]
.begin
    .reg sequence place next end packet length
    immed[sequence, 0]
    immed[next, 0]
removed#:
    alu[place, sequence, AND, (PLACES - 1)]
    alu_shf[place, --, B, place, <<3]
empty#:
    scratch[read, $in0, base, place, 2], ctx_swap[got]
    br_bclr[$in0, 31, empty#]
    alu_shf[packet, $in0, AND~, 1, <<31]
    alu[length, --, B, $in1]
    immed[$out0, 0]
    scratch[write, $out0, base, place, 1], ctx_swap[written]
    alu[sequence, sequence, +, 1]

    alu[end, length, +, 63]
    alu_shf[end, --, B, end, >>6]
    beq[nowhere#]
    alu[end, end, +, next]
    claim_bound(end)
    alu[$out0, --, B, packet]
    alu[$out1, --, B, length]
    alu[$out2, --, B, next]
    alu[next, --, B, end]
full#:
    br_inp_state[TX_RING_STATUS, full#]
    scratch[put, $out0, ring, 0, 3], ctx_swap[handed]
    br[removed#]

nowhere#:
    buffer_return(packet, free_queue)
    br[removed#]
.end
