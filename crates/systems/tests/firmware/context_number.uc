; Which context this is, counted over all microengines.

#ifndef CONTEXT_NUMBER_UC
#define CONTEXT_NUMBER_UC

; context_number(number)
;   number <- eight times the microengine's index and the context.
#macro context_number(number)
    local_csr_rd[ACTIVE_CTX_STS]
    immed[number, 0]
    alu[number, number, AND, 7]
    alu[number, number, +, (ME_INDEX << 3)]
#endm

#endif
