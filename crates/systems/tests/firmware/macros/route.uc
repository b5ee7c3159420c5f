; address -> next hop.

#include "constant.uc"
#include "../../../../../microcode/lib/route.uc"

.reg read $entry
.sig fetched

#macro test_case()
.begin
    .reg hop address root
    load_constant(root, ROUTE_ROOT)
    alu[address, --, B, $$i0]
    route_lookup(hop, address, root, $entry, fetched)
    alu[$$o0, --, B, hop]
    immed[$$o1, 0]
    immed[$$o2, 0]
    immed[$$o3, 0]
    immed[$$o4, 0]
    immed[$$o5, 0]
    immed[$$o6, 0]
    immed[$$o7, 0]
.end
#endm

#include "loop.uc"
