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
.sig shared kept

#macro extension_set_up()
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
    context_memory(area)
    options_load(area, words)
    options_sum(sum, area, words)
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

; quick_start_answer(first, nonce, area, requested, granted)
;   first, nonce <- the option's longwords after a request for rate code
;   `requested` was granted `granted`, 0 for denied. The option's old longwords
;   are in local memory.
#macro quick_start_answer(first, nonce, area, requested, granted)
.begin
    .reg mask bits two random
    immed[nonce, 0]
    immed[first, 0x1908, <<16]
    local_csr_wr[ACTIVE_LM_ADDR_1, area]
    alu[--, --, B, granted]
    beq[denied#]
    ; The pairs of nonce bits of the steps from `requested` down to `granted`
    ; become random: mask = 2^(2 requested + 2) - 2^(2 granted + 2), mod 2^32.
    alu_shf[bits, --, B, requested, <<1]
    immed[two, 4]
    alu[--, bits, OR, 0]
    alu_shf[mask, --, B, two, <<indirect]
    alu_shf[bits, --, B, granted, <<1]
    alu[--, bits, OR, 0]
    alu_shf[bits, --, B, two, <<indirect]
    alu[mask, mask, -, bits]
    random_word(random)
    alu[random, random, AND, mask]
    alu[nonce, *l$index1[OPTIONS_NONCE], AND~, mask]
    alu[nonce, nonce, OR, random]
    alu[bits, *l$index1[OPTIONS_FIRST], -, 1]
    ld_field[first, 0001, bits]
    alu_shf[first, first, OR, granted, <<8]
denied#:
.end
#endm

#macro extension_forward(buffer, port_out, total, done)
.begin
    .reg requested granted first nonce change high area
    br!=byte[$$h3, 1, 0x45, options#]
plain#:
    ipv4_rewrite(ttl_step)
    br[written#], defer[1]
    dram[write, $$o2, buffer, 8, 3], sig_done[done]
options#:
    alu[--, --, B, option]
    beq[plain#]
    alu_shf[requested, --, B, option, >>8]
    hand_over_room(sequence)
    quick_start_grant(granted, requested, port_out)
    context_memory(area)
    quick_start_answer(first, nonce, area, requested, granted)
    alu[change, --, B, ttl_step]
    options_replace(change, area, option, first, nonce)
    alu_shf[high, --, B, change, >>16]
    alu[change, high, +16, change]
    alu_shf[high, --, B, change, >>16]
    alu[change, high, +16, change]
    ipv4_rewrite(change)
    options_write(buffer, area, option, done)
written#:
.end
#endm

#endif
