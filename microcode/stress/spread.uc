; Common to the stress programs: all contexts run, and each spreads its accesses
; by its context number.

#ifndef SPREAD_UC
#define SPREAD_UC

#ifdef IXP2800
#define SRAM_CHANNELS 4
#else
#define SRAM_CHANNELS 2
#endif

; context_number(number): the context's number in its microengine, 0 to 7.
#macro context_number(number)
    local_csr_rd[ACTIVE_CTX_STS]
    immed[number, 0]
    alu[number, number, AND, 0x7]
#endm

; sram_channel(address, number): the base address of channel `number` modulo
; SRAM_CHANNELS.
#macro sram_channel(address, number)
    alu[address, number, AND, (SRAM_CHANNELS - 1)]
    alu_shf[address, --, B, address, <<30]
#endm

#endif
