; Constants wider than an operand.

#ifndef CONSTANT_UC
#define CONSTANT_UC

; load_constant(dest, value)
;   dest <- value, any 32-bit constant: one instruction when a half is zero,
;   two otherwise.
#macro load_constant(dest, value)
#if (((value) & 0xffff0000) == 0)
    immed[dest, (value)]
#elif (((value) & 0xffff) == 0)
    immed[dest, (((value) >> 16) & 0xffff), <<16]
#else
    immed[dest, ((value) & 0xffff)]
    immed_w1[dest, (((value) >> 16) & 0xffff)]
#endif
#endm

#endif
