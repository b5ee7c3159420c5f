; packet_sort.uc: the second stage of Packet Sort, an insertion sort by lanes. A packet
; whose number is the next of its lane goes on, and with it those behind it that came
; before; another one is inserted among the packets of its lane that wait.
;
;   lane, in scratch   next number, first node that waits (0: none)
;   lane, here         1 while a context has it, in local memory
;   node of a buffer   number, packet, length, next node (0: none), in local memory,
;                      16 bytes at ((buffer / 4) modulo 128) * 16
;
; Lanes are more than local memory would hold, so a context fetches its lane, sorts
; without yielding the microengine, and brings the lane back; meanwhile others take
; care of other lanes. Packets of one flow come one after the other.
;
; Nodes are pointed to with bit 0 set. Packets that may go stand in a list of nodes
; between @first and @last, from which every context takes the next, claims elements
; of TBUF for it and hands it over.

#include "constant.uc"
#define CLAIMS_ONLY
#include "claims.uc"
#include "buffer.uc"
#include "stages.uc"
#include "lanes.uc"
#include "turn.uc"

#define NODES 128
#define LANE_MARKS (NODES * 16)

; Steps of 16 cycles between two looks at a lane that another context has.
#define LANE_GAP 2

#define NODE_NUMBER 0
#define NODE_PACKET 1
#define NODE_LENGTH 2
#define NODE_NEXT   3

.num_contexts 8

.sig volatile begun
.sig got handed fetched
.reg read $in0 $in1 $in2
.xfer_order $in0 $in1 $in2
.reg read $lane_next $lane_first
.xfer_order $lane_next $lane_first
.reg write $new_next $new_first
.xfer_order $new_next $new_first
.reg write $out0 $out1 $out2
.xfer_order $out0 $out1 $out2
.reg ring next_ring free_queue
.reg @first @last @next

    immed[ring, SORT_RING]
    immed[next_ring, TX_RING]
    load_constant(free_queue, FREE_BUFFERS)
    br!=ctx[0, wait#]
.begin
    .reg place left
    immed[@first, 0]
    immed[@last, 0]
    immed[@next, 0]
    immed[@left, 0]
    load_constant(place, LANE_MARKS)
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    immed[left, LANES]
    nop
    nop
clear#:
    immed[*l$index0++, 0]
    alu[left, left, -, 1]
    bne[clear#]
    turn_start(begun)
.end
wait#:
    ctx_arb[begun]
    turn_pass(begun)

next#:
.begin
    .reg packet length lane number node place first before

    ring_take($in0, ring, 3, got, rung)

    alu_shf[lane, (LANES - 1), AND, $in1, >>16]
    alu_shf[lane, --, B, lane, <<2]
    load_constant(place, LANE_MARKS)
    alu[place, lane, +, place]
    br[try#]
taken#:
    ctx_arb[voluntary]
try#:
    local_csr_wr[ACTIVE_LM_ADDR_1, place]
    alu_shf[lane, --, B, lane, <<0]
    nop
    nop
    alu[--, --, B, *l$index1]
    bne[taken#]
    immed[*l$index1, 1]
    alu_shf[lane, --, B, lane, <<1]
    immed[place, LANE_STATES]
    scratch[read, $lane_next, place, lane, 2], ctx_swap[fetched]

    ; ---- no wait from here ... ----
    alu[packet, --, B, $in0]
    alu_shf[node, (NODES - 1), AND, packet, >>2]
    alu_shf[node, --, B, node, <<4]
    local_csr_wr[ACTIVE_LM_ADDR_0, node]
    alu[node, node, +, 1]
    ld_field_w_clr[number, 0011, $in1]
    alu[first, --, B, $lane_first]
    alu[*l$index0[NODE_NUMBER], --, B, number]
    alu[*l$index0[NODE_PACKET], --, B, packet]
    alu[*l$index0[NODE_LENGTH], --, B, $in2]
    alu[before, --, B, $lane_next]
    alu[--, number, -, before]
    bne[early#]

due#:
    ; The node goes to the end of the list of those that may go.
    immed[*l$index0[NODE_NEXT], 0]
    alu[--, --, B, @last]
    beq[alone#]
    alu[place, --, B, @last]
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    alu[@last, --, B, node]
    alu[number, number, +, 1]
    ld_field_w_clr[number, 0011, number]
    alu[*l$index0[NODE_NEXT], --, B, node]
    br[follow#]
alone#:
    alu[@first, --, B, node]
    alu[@last, --, B, node]
    alu[number, number, +, 1]
    ld_field_w_clr[number, 0011, number]
follow#:
    ; The first packet that waits may be due now.
    alu[node, --, B, first]
    beq[advance#]
    local_csr_wr[ACTIVE_LM_ADDR_0, node]
    nop
    nop
    nop
    alu[--, number, -, *l$index0[NODE_NUMBER]]
    bne[advance#]
    alu[first, --, B, *l$index0[NODE_NEXT]]
    br[due#]
advance#:
    alu[before, --, B, number]
    br[bring_back#]

early#:
    ; Insertion: behind all that wait with a smaller number. `behind` is the node
    ; behind which it goes, 0 for the beginning.
.begin
    .reg behind ahead
    immed[behind, 0]
    alu[ahead, --, B, first]
    beq[found#]
further#:
    local_csr_wr[ACTIVE_LM_ADDR_0, ahead]
    nop
    nop
    nop
    alu[place, number, -, *l$index0[NODE_NUMBER]]
    br_bset[place, 15, found#]
    alu[behind, --, B, ahead]
    alu[ahead, --, B, *l$index0[NODE_NEXT]]
    bne[further#]
found#:
    local_csr_wr[ACTIVE_LM_ADDR_0, node]
    alu[--, --, B, behind]
    beq[at_first#]
    nop
    alu[*l$index0[NODE_NEXT], --, B, ahead]
    local_csr_wr[ACTIVE_LM_ADDR_0, behind]
    nop
    nop
    nop
    alu[*l$index0[NODE_NEXT], --, B, node]
    br[bring_back#]
at_first#:
    alu[*l$index0[NODE_NEXT], --, B, ahead]
    alu[first, --, B, node]
.end

bring_back#:
    alu[$new_next, --, B, before]
    alu[$new_first, --, B, first]
    immed[place, LANE_STATES]
    ; ---- ... to here ----
    scratch[write, $new_next, place, lane, 2], sig_done[fetched]
    immed[*l$index1, 0]
    ctx_arb[fetched]

sorted#:
    ; ---- no wait from here ... ----
    ; The first of those that may go.
    alu[node, --, B, @first]
    beq[next#]
    local_csr_wr[ACTIVE_LM_ADDR_0, node]
.begin
    .reg parts end ahead
    nop
    nop
    nop
    alu[length, --, B, *l$index0[NODE_LENGTH]]
    alu[parts, length, +, 63]
    alu_shf[parts, --, B, parts, >>6]
    alu[end, parts, +, @next]
    alu[ahead, end, -, @left]
    alu[--, ahead, -, CLAIMED_LIMIT]
    bgt[crowded#]
    alu[packet, --, B, *l$index0[NODE_PACKET]]
    alu[@first, --, B, *l$index0[NODE_NEXT]]
    bne[more_wait#]
    immed[@last, 0]
more_wait#:
    alu[$out0, --, B, packet]
    alu[$out1, --, B, length]
    alu[$out2, --, B, @next]
    alu[@next, --, B, end]
    ; ---- ... to here ----
    alu[--, --, B, length]
    beq[nowhere#]
full#:
    br_inp_state[TX_RING_STATUS, full#]
    scratch[put, $out0, next_ring, 0, 3], ctx_swap[handed]
    br[sorted#]

crowded#:
    ; Too much is claimed already: look what has left and try again.
    alu[end, --, B, @next]
    transmit_room(ahead, end, (CLAIMED_LIMIT - 32))
    alu[@left, end, -, ahead]
    br[sorted#]

nowhere#:
    ld_field_w_clr[packet, 0111, packet]
    buffer_return(packet, free_queue)
    br[sorted#]
.end
.end
