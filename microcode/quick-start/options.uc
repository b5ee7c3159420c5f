; IPv4 options: the first Quick-Start option among them is looked for (RFC 791,
; RFC 4782), and changed in place.
;
; Options begin in the middle of a frame longword. They are moved to local memory
; aligned, longword k with option bytes 4k to 4k + 3, where they can be walked by
; byte.

#ifndef OPTIONS_UC
#define OPTIONS_UC

#include "context_memory.uc"

; The context's local memory: 12 longwords of options, then the longwords of the
; Quick-Start option.
#define OPTIONS_FIRST  12
#define OPTIONS_NONCE  13

#define OPTION_NO_OPERATION 1
#define OPTION_QUICK_START  25

; options_load(area, words)
;   Local memory <- the options, of which there are `words` longwords, and the
;   longword behind them. More than four need another part of the packet, whose
;   last longword's lower half comes to longword 11.
#macro options_load(area, words)
.begin
    .reg edge place
    alu[place, area, OR, 2]
    local_csr_wr[ACTIVE_LM_ADDR_1_BYTE_INDEX, place]
    alu[place, area, +, 32]
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    alu[edge, --, B, $$h13]
    byte_align_be[--, $$h8]
    byte_align_be[*l$index1[0], $$h9]
    byte_align_be[*l$index1[1], $$h10]
    byte_align_be[*l$index1[2], $$h11]
    byte_align_be[*l$index1[3], $$h12]
    byte_align_be[*l$index1[4], $$h13]
    byte_align_be[*l$index1[5], $$h13]
    alu[--, words, -, 5]
    blo[loaded#]

    ; Frame longwords 14 to 19.
    immed[place, 56]
    dram[read, $$h10, buffer, place, 2], sig_done[read]
    immed[place, 72]
    dram[read, $$e0, buffer, place, 1], sig_done[written]
    ctx_arb[read, written]
    local_csr_wr[BYTE_INDEX, 2]
    nop
    nop
    nop
    byte_align_be[--, edge]
    byte_align_be[*l$index1[5], $$h10]
    byte_align_be[*l$index1[6], $$h11]
    byte_align_be[*l$index1[7], $$h12]
    byte_align_be[*l$index0[0], $$h13]
    byte_align_be[*l$index0[1], $$e0]
    byte_align_be[*l$index0[2], $$e1]
    byte_align_be[*l$index0[3], $$e1]
loaded#:
.end
#endm

; options_sum(sum, area, words)
;   sum <- sum and the option longwords, folded to 16 bits.
#macro options_sum(sum, area, words)
.begin
    .reg left high
    local_csr_wr[ACTIVE_LM_ADDR_1, area]
    alu[left, --, B, words]
    nop
    nop
more#:
    alu_shf[high, --, B, *l$index1, >>16]
    alu[sum, sum, +, high]
    alu[high, ones, AND, *l$index1++]
    alu[left, left, -, 1]
    bne[more#], defer[1]
    alu[sum, sum, +, high]
    checksum_fold(sum)
.end
#endm

; options_find(option, area, words, verdict)
;   option <- rate code << 8 | place of a Quick-Start request among the options,
;   0 if the option asks for nothing; its longwords are put aside. To exception#
;   without a Quick-Start option, or with a malformed option.
#macro options_find(option, area, words, verdict)
.begin
    .reg at end place first nonce kind size
    immed[at, 0]
    alu_shf[end, --, B, words, <<2]
look#:
    alu[--, at, -, end]
    bhs[none#]
    alu[place, area, +, at]
    local_csr_wr[ACTIVE_LM_ADDR_1_BYTE_INDEX, place]
    nop
    nop
    nop
    alu[first, --, B, *l$index1++]
    alu[nonce, --, B, *l$index1++]
    alu[size, --, B, *l$index1]
    byte_align_be[--, first]
    byte_align_be[first, nonce]
    byte_align_be[nonce, size]
    alu_shf[kind, --, B, first, >>24]
    alu[--, kind, -, OPTION_QUICK_START]
    beq[found#], defer[1]
    alu_shf[size, 0xff, AND, first, >>16]
    alu[--, kind, -, OPTION_NO_OPERATION]
    blo[none#]                                  ; end of the list
    bne[other#]
    br[look#], defer[1]
    alu[at, at, +, 1]
other#:
    alu[--, size, -, 2]
    blo[bad#]
    alu[at, at, +, size]
    alu[--, end, -, at]
    bhs[look#]
bad#:
    br[exception#], defer[1]
    immed[verdict, EXCEPTION_BAD_OPTION]
none#:
    br[exception#], defer[1]
    immed[verdict, EXCEPTION_OPTIONS]

found#:
    alu[--, size, -, 8]
    bne[bad#]
    alu[place, at, +, 8]
    alu[--, end, -, place]
    blo[bad#], defer[1]
    local_csr_wr[ACTIVE_LM_ADDR_1, area]
    ; A request has function 0 and a rate.
    alu_shf[kind, 0xff, AND, first, >>8]
    beq[nothing#], defer[1]
    immed[option, 0]
    alu[--, kind, -, 16]
    bhs[nothing#]
    alu_shf[option, at, OR, kind, <<8]
    alu[*l$index1[OPTIONS_FIRST], --, B, first]
    alu[*l$index1[OPTIONS_NONCE], --, B, nonce]
nothing#:
.end
#endm

; options_found(first, nonce, area)
;   first, nonce <- the longwords of the option that was found.
#macro options_found(first, nonce, area)
    local_csr_wr[ACTIVE_LM_ADDR_1, area]
    nop
    nop
    nop
    alu[first, --, B, *l$index1[OPTIONS_FIRST]]
    alu[nonce, --, B, *l$index1[OPTIONS_NONCE]]
#endm

; options_replace(change, area, option, first, nonce)
;   Puts `first` and `nonce` in place of the option's two longwords, and adds to
;   `change` what the sum over the header grows by, not folded (32 bits of
;   ones' complement).
#macro options_replace(change, area, option, first, nonce)
.begin
    .reg place shift piece
    alu[place, option, AND, 0xfc]
    alu[place, area, +, place]
    local_csr_wr[ACTIVE_LM_ADDR_1, area]
    alu_shf[shift, 0x18, AND, option, <<3]
    nop
    nop
    ; The changed bits, moved to the place of the option.
    alu[first, first, XOR, *l$index1[OPTIONS_FIRST]]
    alu[nonce, nonce, XOR, *l$index1[OPTIONS_NONCE]]
    local_csr_wr[ACTIVE_LM_ADDR_1, place]
    nop
    alu[--, shift, OR, 0]
    alu_shf[piece, --, B, first, >>indirect]
    options_change(change, piece)
    alu[--, shift, OR, 0]
    dbl_shf[piece, first, nonce, >>indirect]
    options_change(change, piece)
    alu[--, shift, OR, 0]
    dbl_shf[piece, nonce, 0, >>indirect]
    options_change(change, piece)
.end
#endm

; options_change(change, piece)
;   Changes the bits of `piece` in the longword at the pointer, and goes on to
;   the next.
#macro options_change(change, piece)
.begin
    .reg old
    alu[old, --, B, *l$index1]
    checksum_take(change, old)
    alu[piece, piece, XOR, *l$index1]
    alu[*l$index1++, --, B, piece]
    checksum_add(change, piece)
.end
#endm

; options_write(buffer, area, option, done)
;   Writes the header back with the options; $$o2 to $$o7 are there. Another
;   reference is needed when the request ends behind frame longword 13.
#macro options_write(buffer, area, option, done)
.begin
    .reg place
    alu[place, area, OR, 2]
    local_csr_wr[ACTIVE_LM_ADDR_1_BYTE_INDEX, place]
    alu_shf[place, --, B, $$h8, >>16]
    nop
    nop
    byte_align_be[--, place]
    byte_align_be[$$o8, *l$index1[0]]
    byte_align_be[$$o9, *l$index1[1]]
    byte_align_be[$$o10, *l$index1[2]]
    byte_align_be[$$o11, *l$index1[3]]
    byte_align_be[$$o12, *l$index1[4]]
    byte_align_be[$$o13, *l$index1[5]]
    alu[place, option, AND, 0xff]
    alu[--, place, -, 13]
    dram[write, $$o2, buffer, 8, 6], sig_done[done]
    blo[short#]

    ctx_arb[done]
    alu[place, area, +, 32]
    local_csr_wr[ACTIVE_LM_ADDR_0, place]
    local_csr_wr[BYTE_INDEX, 2]
    immed[place, 56]
    nop
    nop
    byte_align_be[--, *l$index1[5]]
    byte_align_be[$$o2, *l$index1[6]]
    byte_align_be[$$o3, *l$index1[7]]
    byte_align_be[$$o4, *l$index0[0]]
    byte_align_be[$$o5, *l$index0[1]]
    byte_align_be[$$o6, *l$index0[2]]
    byte_align_be[$$o7, *l$index0[3]]
    dram[write, $$o2, buffer, place, 3], sig_done[done]
short#:
.end
#endm

#endif
