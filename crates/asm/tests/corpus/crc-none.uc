; good
crc_be[--, a1, b2]
crc_le[--, --, b2], bytes_0_2
crc_be[--, --, $1], byte_3, bit_swap
ctx_arb[kill]
