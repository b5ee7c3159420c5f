; Class of service: that of the flow if it is in the flow table, otherwise that of
; the behaviour aggregate (RFC 2474). DSCP_CLASSES has a longword for each of the 64
; code points.

#ifndef CLASSIFY_UC
#define CLASSIFY_UC

; 0 ignores the flow table: the DSCP alone decides.
#ifndef FLOW_CLASSES
#define FLOW_CLASSES 1
#endif

#include "flow.uc"

; classify(class, source, destination)
;   class <- class of service of the packet whose header is in $$h3 to $$h9.
#macro classify(class, source, destination)
.begin
    .reg place
#if (FLOW_CLASSES)
.begin
    .reg ports protocol bucket
    flow_key(source, destination, ports, $key0, $key1, $key2, $key3)
    hash_128[$key0, 1], ctx_swap[fetched]
    alu[protocol, $$h5, AND, 0xff]
    immed[place, (FLOW_BUCKETS - 1)]
    alu[bucket, place, AND, $key0]
    alu_shf[bucket, --, B, bucket, <<5]
    sram[read, $flow0, flow_table, bucket, 8], ctx_swap[fetched]
    flow_match($flow0, $flow1, $flow2, $flow3, source, destination, ports, protocol, class)
    flow_match($flow4, $flow5, $flow6, $flow7, source, destination, ports, protocol, class)
.end
#endif

    alu[place, $$h3, AND, 0xfc]
    sram[read, $entry, classes, place, 1], ctx_swap[fetched]
    alu[class, --, B, $entry]
hit#:
.end
#endm

#endif
