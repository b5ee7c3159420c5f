; Frame longwords 3 to 8, a new longword 5, another longword -> the sum over the
; header, longword 6 after a step of the TTL and after the change, the sum over a
; longer header, the other longword folded, the change made another way.

#include "../../../../../microcode/lib/checksum.uc"

#macro test_case()
.begin
    .reg sum low ones step last change
    load_constant(ones, 0xffff)
    load_constant(step, 0xfeff)
    checksum_ipv4(sum, $$i0, $$i1, $$i2, $$i3, $$i4, $$i5)
    alu[$$o0, --, B, sum]
    checksum_ttl_step($$o1, $$i3, ones, step)
    immed[change, 0]
    checksum_update(change, $$i2, $$i6)
    checksum_fold(change)
    checksum_ttl_step($$o2, $$i3, ones, change)
    ; The header again, with the other longword behind it: six longwords.
    ld_field_w_clr[sum, 0011, $$i0]
    alu_shf[last, --, B, $$i7, >>16]
    alu_shf[low, --, B, $$i7, <<16]
    checksum_words(sum, [$$i1, $$i2, $$i3, $$i4, $$i5, last, low])
    checksum_fold(sum)
    alu[$$o3, --, B, sum]
    alu[sum, --, B, $$i7]
    checksum_fold(sum)
    alu[$$o4, --, B, sum]
    ; The change again, in two steps.
    immed[change, 0]
    checksum_take(change, $$i2)
    checksum_add(change, $$i6)
    checksum_fold(change)
    checksum_ttl_step($$o5, $$i3, ones, change)
    immed[$$o6, 0]
    immed[$$o7, 0]
.end
#endm

#include "loop.uc"
