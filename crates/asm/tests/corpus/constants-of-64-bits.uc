; good
; first-constant 52719
#define MAC 0xfedcba98cdef3210
#define_eval TOP (1 << 63)
    immed[a0, ((MAC >> 16) & 0xffff)]
    immed[a1, (TOP >> 56)]
    immed[a2, ((0xff << 56) >> 60)]
    immed[a3, (~0xffffffffffff0000)]
#if (TOP > 0)
    immed[a4, 1]
#endif
    ctx_arb[kill]
