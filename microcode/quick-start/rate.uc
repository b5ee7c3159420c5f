; Rates in units of 40 kbit/s: rate code N is 2^N units, code 0 none.

#ifndef RATE_UC
#define RATE_UC

; rate_units(units, code)
;   units <- 2^code.
#macro rate_units(units, code)
    immed[units, 1]
    alu[--, code, OR, 0]
    alu_shf[units, --, B, units, <<indirect]
#endm

; rate_that_fits(code, most, units, left)
;   code <- the greatest rate code up to `most` whose units are not more than
;   `left`, a signed number, or 0; units, 2^most before, <- its units, 0 for
;   code 0.
#macro rate_that_fits(code, most, units, left)
    alu[--, left, -, units]
    bge[fits#], defer[1]
    alu[code, --, B, most]
    alu[--, left, -, 2]
    blt[none#]
lower#:
    alu_shf[units, --, B, units, >>1]
    alu[code, code, -, 1]
    alu[--, left, -, units]
    blt[lower#]
    br[fits#]
none#:
    immed[code, 0]
    immed[units, 0]
fits#:
#endm

#endif
