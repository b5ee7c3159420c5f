; quick_start.uc: Quick-Start (RFC 4782) in the processing stage.
;
; A request asks for a rate of 40 kbit/s * 2^code. It is granted as far as the
; output has room: the slow path says in QS_STATE how much of the rate may be
; granted in this window, and what was granted is counted there, in units of
; 40 kbit/s. A grant may be lower than the request; a denied request has rate,
; nonce and TTL zeroed.
;
; A group of ports shares the longwords of QS_STATE: all of them group 0, or with
; QUICK_START_PER_PORT each port its own, 32 bytes apart:
;   0  limit         written by the slow path
;   1  phase         0 or 8, written by the slow path: which window this is
;   2  granted       in windows of phase 0
;   3  lock          of grant_lock.uc
;   4  granted       in windows of phase 8
;
; One define chooses how grants are kept consistent: QUICK_START_LOCK,
; QUICK_START_ATOMIC or QUICK_START_COPROCESSOR.

#ifndef QUICK_START_UC
#define QUICK_START_UC
#define EXTENSION_OPTIONS
#include "options.uc"
#include "random.uc"

; Where QS_STATE is.
#ifndef QS_SPACE
#define QS_SPACE scratch
#endif

#define QS_LIMIT   0
#define QS_PHASE   4
#define QS_GRANTED 8
#define QS_LOCK    12
#define QS_GROUP_SHIFT 5

#ifdef QUICK_START_PER_PORT
#ifdef QS_STATE_SIZE
#if (QS_STATE_SIZE < (PORT_COUNT << QS_GROUP_SHIFT))
#error "QS_STATE is too small: QUICK_START_PER_PORT needs 32 bytes for each port"
#endif
#endif
#endif

; quick_start_state(state, port_out)
;   state <- where the group's longwords are.
#macro quick_start_state(state, port_out)
    load_constant(state, QS_STATE)
#ifdef QUICK_START_PER_PORT
.begin
    .reg group
    alu_shf[group, --, B, port_out, <<QS_GROUP_SHIFT]
    alu[state, state, +, group]
.end
#endif
#endm

#ifdef QUICK_START_LOCK
#include "grant_lock.uc"
#endif
#ifdef QUICK_START_ATOMIC
#include "grant_atomic.uc"
#endif
#ifdef QUICK_START_COPROCESSOR
#include "grant_coprocessor.uc"
#endif

.reg option
.init option 0
.reg $share0 $share1 $share2 $share3 $share4
.xfer_order $share0 $share1 $share2 $share3 $share4
.sig kept

; Which window the contexts know to be the current one, and since when
; (grant_atomic.uc).
.reg @qs_phase @qs_seen

#macro extension_set_up()
    immed[@qs_phase, 0]
    immed[@qs_seen, 0]
#endm

; Most requests stand alone in their header: IHL 7, the option at the start. Those
; are done in registers; all others in local memory (options.uc).
#define QS_ALONE 0x47

; quick_start_alone(first, nonce)
;   first, nonce <- the option's longwords of a header with IHL 7.
#macro quick_start_alone(first, nonce)
    alu_shf[first, --, B, $$h8, <<16]
    alu_shf[first, first, OR, $$h9, >>16]
    alu_shf[nonce, --, B, $$h9, <<16]
    alu_shf[nonce, nonce, OR, $$h10, >>16]
#endm

#macro extension_options(length, total, sum, verdict, summed)
.begin
    .reg words payload area
    alu_shf[words, 0xf, AND, $$h3, >>8]
    alu[words, words, -, 5]
    ; 5.2.2: the frame holds the datagram, the datagram its header.
    alu_shf[total, --, B, $$h4, >>16]
    alu[payload, length, -, 14]
    alu[--, payload, -, total]
    blo[drop#], defer[1]
    immed[verdict, DROP_LENGTH]
    alu_shf[payload, --, B, words, <<2]
    alu[payload, payload, +, 20]
    alu[--, total, -, payload]
    blo[drop#]
    checksum_ipv4(sum, $$h3, $$h4, $$h5, $$h6, $$h7, $$h8)

    br!=byte[$$h3, 1, QS_ALONE, general#]
    ld_field_w_clr[payload, 0011, $$h8]
    immed[area, 0x1908]
    alu[--, payload, XOR, area]
    bne[general#]
    alu_shf[area, --, B, $$h10, >>16]
    alu[payload, payload, +, area]
    alu[sum, sum, +, payload]
    alu[sum, sum, +, $$h9]
    alu[sum, sum, +carry, 0]
    checksum_fold(sum)
    ; A request has function 0 and a rate.
    alu_shf[area, --, B, $$h9, >>24]
    alu[--, area, -, 16]
    blo[summed#], defer[1]
    alu_shf[option, --, B, area, <<8]
    br[summed#], defer[1]
    immed[option, 0]

general#:
    context_memory(area)
    options_load(area, words)
    options_sum(sum, area, words)
    ; Options of a damaged header say nothing.
    alu[--, sum, XOR, ones]
    bne[drop#], defer[1]
    immed[verdict, DROP_CHECKSUM]
    options_find(option, area, words, verdict)
    br[summed#]
.end
#endm

#macro extension_ports(ports)
.begin
    .reg words area
    br!=byte[$$h3, 1, 0x45, behind#]
    alu_shf[ports, --, B, $$h8, <<16]
    br[known#], defer[1]
    alu_shf[ports, ports, OR, $$h9, >>16]
behind#:
    br!=byte[$$h3, 1, QS_ALONE, far#]
    alu_shf[ports, --, B, $$h10, <<16]
    br[known#], defer[1]
    alu_shf[ports, ports, OR, $$h11, >>16]
far#:
    alu_shf[words, 0xf, AND, $$h3, >>8]
    alu[words, words, -, 5]
    context_memory(area)
    alu_shf[words, area, OR, words, <<2]
    local_csr_wr[ACTIVE_LM_ADDR_1, words]
    nop
    nop
    nop
    alu[ports, --, B, *l$index1]
known#:
.end
#endm

; quick_start_answer(first, nonce, requested, granted)
;   first, nonce: the option's longwords, brought to what they are after a request
;   for rate code `requested` was granted `granted`, 0 for denied.
#macro quick_start_answer(first, nonce, requested, granted)
.begin
    .reg mask bits four random
    alu[--, --, B, granted]
    bne[granted#], defer[1]
    alu[bits, first, -, 1]
    br[answered#], defer[2]
    immed[first, 0x1908, <<16]
    immed[nonce, 0]
granted#:
    immed[first, 0x1908, <<16]
    ld_field[first, 0001, bits]
    alu_shf[first, first, OR, granted, <<8]
    alu[--, requested, -, granted]
    beq[answered#]
    ; The pairs of nonce bits of the steps from `requested` down to `granted`
    ; become random: mask = 2^(2 requested + 2) - 2^(2 granted + 2), mod 2^32.
    alu_shf[bits, --, B, requested, <<1]
    immed[four, 4]
    alu[--, bits, OR, 0]
    alu_shf[mask, --, B, four, <<indirect]
    alu_shf[bits, --, B, granted, <<1]
    alu[--, bits, OR, 0]
    alu_shf[bits, --, B, four, <<indirect]
    alu[mask, mask, -, bits]
    random_word(random)
    alu[random, random, AND, mask]
    alu[nonce, nonce, AND~, mask]
    alu[nonce, nonce, OR, random]
answered#:
.end
#endm

#macro extension_forward(buffer, port_out, total, done)
.begin
    .reg requested granted first nonce change area
    br!=byte[$$h3, 1, 0x45, options#]
plain#:
    ipv4_rewrite(ttl_step)
    br[written#], defer[1]
    dram[write, $$o2, buffer, 8, 3], sig_done[done]
options#:
    alu[--, --, B, option]
    beq[plain#]
    alu_shf[requested, --, B, option, >>8]
    quick_start_grant(granted, requested, port_out)
    alu[change, --, B, ttl_step]
    br!=byte[$$h3, 1, QS_ALONE, general#]
    alu[--, option, AND, 0xff]
    bne[general#]

    quick_start_alone(first, nonce)
    checksum_take(change, first)
    checksum_take(change, nonce)
    quick_start_answer(first, nonce, requested, granted)
    checksum_add(change, first)
    checksum_add(change, nonce)
    checksum_fold(change)
    ipv4_rewrite(change)
    alu_shf[area, --, B, $$h8, >>16]
    alu_shf[area, --, B, area, <<16]
    alu_shf[$$o8, area, OR, first, >>16]
    alu_shf[first, --, B, first, <<16]
    alu_shf[$$o9, first, OR, nonce, >>16]
    alu[area, ones, AND, $$h10]
    alu_shf[$$o10, area, OR, nonce, <<16]
    alu[$$o11, --, B, $$h11]
    br[written#], defer[1]
    dram[write, $$o2, buffer, 8, 5], sig_done[done]

general#:
    context_memory(area)
    options_found(first, nonce, area)
    quick_start_answer(first, nonce, requested, granted)
    options_replace(change, area, option, first, nonce)
    checksum_fold(change)
    ipv4_rewrite(change)
    options_write(buffer, area, option, done)
written#:
.end
#endm

#endif
