; Frame longwords 3 to 8, a new longword 5, another longword -> the sum over the
; header, longword 6 after a step of the TTL and after the change, the sum over a
; longer header, the other longword folded.

#include "../../../../microcode/lib/checksum.uc"

#macro test_case()
.begin
    .reg sum low ones step last
    load_constant(ones, 0xffff)
    load_constant(step, 0xfeff)
    checksum_ipv4(sum, $$i0, $$i1, $$i2, $$i3, $$i4, $$i5)
    alu[$$o0, --, B, sum]
    checksum_ttl_step($$o1, $$i3, ones, step)
    checksum_take(sum, $$i3, ones)
    checksum_update(sum, $$i2, $$i6)
    checksum_put($$o2, $$i3, sum, ones)
    ; The same header with the other longword behind it: six longwords.
    ld_field_w_clr[sum, 0011, $$i0]
    alu_shf[last, --, B, $$i7, >>16]
    alu_shf[low, --, B, $$i7, <<16]
    checksum_words(sum, [$$i1, $$i2, $$i3, $$i4, $$i5, last, low])
    checksum_fold(sum)
    alu[$$o3, --, B, sum]
    alu[sum, --, B, $$i7]
    checksum_fold(sum)
    alu[$$o4, --, B, sum]
    immed[$$o5, 0]
    immed[$$o6, 0]
    immed[$$o7, 0]
.end
#endm

#include "loop.uc"
