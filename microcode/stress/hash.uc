; Saturates the hash unit: every context hashes three operands of 128 bits at a
; time.

.num_contexts 8
.reg $operand[12]
.xfer_order $operand
.sig done

next#:
#define_eval N 0
#while (N < 12)
    alu[$operand[N], --, B, N]
#define_eval N (N + 1)
#endloop
    hash_128[$operand[0], 3], ctx_swap[done]
    br[next#]
