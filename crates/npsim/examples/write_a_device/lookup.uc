; lookup.uc: writes two prefixes into a TCAM beside SRAM channel 1, asks it for three
; addresses and keeps the answers.

#include "constant.uc"

.num_contexts 4

.reg write $value $mask $result
.xfer_order $value $mask $result
.reg write $key $kept
.reg read $answer
.reg table search answers constant
.sig done

; entry(number, value, mask, result)
#macro entry(number, value, mask, result)
    load_constant(constant, value)
    alu[$value, --, B, constant]
    load_constant(constant, mask)
    alu[$mask, --, B, constant]
    immed[$result, result]
    sram[write, $value, table, (16 * number), 3], ctx_swap[done]
#endm

; look_up(number, key): the answer is read from behind the key.
#macro look_up(number, key)
    load_constant(constant, key)
    alu[$key, --, B, constant]
    sram[write, $key, search, 0, 1], ctx_swap[done]
    sram[read, $answer, search, 4, 1], ctx_swap[done]
    alu[$kept, --, B, $answer]
    scratch[write, $kept, answers, (4 * number), 1], ctx_swap[done]
#endm

    br!=ctx[0, end#]
    load_constant(table, ROUTES)
    load_constant(search, ROUTES_ASK)
    load_constant(answers, ANSWERS)

    ; The first entry that matches counts: the longer prefix comes first.
    entry(0, 0x0a010000, 0xffff0000, 7)
    entry(1, 0x0a000000, 0xff000000, 3)

    look_up(0, 0x0a010203)
    look_up(1, 0x0a990203)
    look_up(2, 0x0b000001)
end#:
    ctx_arb[kill]
