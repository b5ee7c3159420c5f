; Where the state of a packet's group is.

#ifndef XCP_STATE_UC
#define XCP_STATE_UC

#include "constant.uc"

#define XCP_GROUP_SHIFT 6

#ifdef XCP_PER_PORT
#ifdef XCP_STATE_SIZE
#if (XCP_STATE_SIZE < (PORT_COUNT << XCP_GROUP_SHIFT))
#error "XCP_STATE is too small: XCP_PER_PORT needs 64 bytes for each port"
#endif
#endif
#endif

; xcp_group(state, port_out)
;   state <- address of the group's longwords in XCP_STATE.
#macro xcp_group(state, port_out)
    load_constant(state, XCP_STATE)
#ifdef XCP_PER_PORT
.begin
    .reg group
    alu_shf[group, --, B, port_out, <<XCP_GROUP_SHIFT]
    alu[state, state, +, group]
.end
#endif
#endm

#endif
