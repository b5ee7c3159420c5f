; Grants by the feedback coprocessor: reading the longword of a rate code asks for
; that rate, and the answer is the code that is granted.

#ifndef GRANT_UC
#define GRANT_UC

#define COPROCESSOR_QS_REQUEST 0x800
#define COPROCESSOR_GROUP_SHIFT 6

; quick_start_grant(granted, requested, port_out)
;   granted <- the rate code that the request for `requested` gets, 0 for none.
#macro quick_start_grant(granted, requested, port_out)
.begin
    .reg place code
    load_constant(place, (FEEDBACK + COPROCESSOR_QS_REQUEST))
#ifdef QUICK_START_PER_PORT
    alu_shf[code, --, B, port_out, <<COPROCESSOR_GROUP_SHIFT]
    alu[place, place, +, code]
#endif
    alu_shf[code, --, B, requested, <<2]
    sram[read, $share0, place, code, 1], ctx_swap[kept]
    alu[granted, --, B, $share0]
.end
#endm

#endif
