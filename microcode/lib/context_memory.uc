; Local memory of a context: 64 bytes each, behind what a microengine's contexts
; share.

#ifndef CONTEXT_MEMORY_UC
#define CONTEXT_MEMORY_UC

#define CONTEXT_MEMORY_BASE  0x200
#define CONTEXT_MEMORY_SHIFT 6

; context_memory(place)
;   place <- byte address of this context's part, a multiple of 64. It is made
;   anew wherever it is needed: registers are fewer than instructions.
#macro context_memory(place)
.begin
    .reg context
    local_csr_rd[ACTIVE_CTX_STS]
    immed[context, 0]
    alu[context, context, AND, 7]
    immed[place, CONTEXT_MEMORY_BASE]
    alu_shf[place, place, OR, context, <<CONTEXT_MEMORY_SHIFT]
.end
#endm

#endif
