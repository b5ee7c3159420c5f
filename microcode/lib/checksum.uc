; The IPv4 header checksum (RFC 1071, RFC 1624).

#ifndef CHECKSUM_UC
#define CHECKSUM_UC

; checksum_ipv4(sum, w3, w4, w5, w6, w7, w8)
;   sum <- the folded sum over a 20-byte header, 0xffff when it is right. w3 to
;   w8 are the frame's longwords 3 to 8: the header starts in the lower half of
;   w3 and ends in the upper half of w8. Halves may be added anywhere, because
;   2^16 is 1 in ones' complement.
#macro checksum_ipv4(sum, w3, w4, w5, w6, w7, w8)
.begin
    .reg ends high
    ld_field_w_clr[ends, 0011, w3]
    alu_shf[high, --, B, w8, >>16]
    alu[ends, ends, +, high]
    alu[sum, ends, +, w4]
    alu[sum, sum, +carry, w5]
    alu[sum, sum, +carry, w6]
    alu[sum, sum, +carry, w7]
    alu[sum, sum, +carry, 0]
    checksum_fold(sum)
.end
#endm

; checksum_fold(sum)
;   sum <- its two halves added up, in 16 bits; 0 only for 0.
#macro checksum_fold(sum)
.begin
    .reg high
    alu_shf[high, --, B, sum, >>16]
    alu[sum, high, +16, sum]
    alu_shf[high, --, B, sum, >>16]
    alu[sum, high, +16, sum]
.end
#endm

; checksum_add(sum, value)
;   sum <- sum + value in ones' complement of 32 bits, which is a sum of halves
;   that is not folded yet.
#macro checksum_add(sum, value)
    alu[sum, sum, +, value]
    alu[sum, sum, +carry, 0]
#endm

; checksum_take(sum, value)
;   sum <- sum - value in ones' complement of 32 bits.
#macro checksum_take(sum, value)
.begin
    .reg complement
    alu[complement, --, ~B, value]
    alu[sum, sum, +, complement]
    alu[sum, sum, +carry, 0]
.end
#endm

; checksum_words(sum, words)
;   sum <- sum + words, not folded: a list of registers in brackets, longwords of a
;   longer header, or parts of one with zeros for the rest. The carry of each
;   addition goes into the next and the last around the end.
#macro checksum_words(sum, words)
#define_eval CHECKSUM_FIRST 1
#for CHECKSUM_WORD words
#if (CHECKSUM_FIRST)
    alu[sum, sum, +, CHECKSUM_WORD]
#else
    alu[sum, sum, +carry, CHECKSUM_WORD]
#endif
#define_eval CHECKSUM_FIRST 0
#endloop
    alu[sum, sum, +carry, 0]
#endm

; checksum_update(sum, old, new)
;   sum <- sum + ~old + new, not folded: what the sum over a header becomes when
;   the longword `old` (or a half of one, wherever it stands) becomes `new`.
#macro checksum_update(sum, old, new)
.begin
    .reg less
    alu[less, --, ~B, old]
    alu[sum, sum, +, less]
    alu[sum, sum, +carry, new]
    alu[sum, sum, +carry, 0]
.end
#endm

; checksum_ttl_step(w6, old6, ones, step)
;   w6 <- longword 6 of the frame with the checksum in its upper half brought up
;   to date for a TTL that went down by one: HC' = ~(~HC + ~m + m'), and with
;   m' = m - 0x100 the two last terms are 0xfeff. `ones` holds 0xffff, `step`
;   0xfeff.
#macro checksum_ttl_step(w6, old6, ones, step)
.begin
    .reg sum high low
    alu_shf[sum, ones, AND~, old6, >>16]        ; ~HC
    alu[sum, sum, +, step]
    alu_shf[high, --, B, sum, >>16]
    alu[sum, high, +16, sum]
    alu[sum, --, ~B, sum]
    alu[low, ones, AND, old6]
    alu_shf[w6, low, OR, sum, <<16]
.end
#endm

#endif
