#if (defined(A) || 1 << 2 == 4)
nop
#elif 0
#error "no"
#else
halt
#endif
