; reader.uc: polls the version of a table until the general-purpose core has
; written it five times, then keeps the table's first entry.

#include "constant.uc"

.num_contexts 4

.reg read $version $first
.xfer_order $version $first
.reg write $seen
.reg table seen
.sig done

    br!=ctx[0, end#]
    load_constant(table, TURNS)
    load_constant(seen, SEEN)

again#:
    sram[read, $version, table, 0, 2], ctx_swap[done]
    alu[--, $version, -, 5]
    blt[again#]

    alu[$seen, --, B, $first]
    scratch[write, $seen, seen, 0, 1], ctx_swap[done]
end#:
    ctx_arb[kill]
