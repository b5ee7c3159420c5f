; good
crc_be[crc_5, a1, b2]
crc_le[crc_5, --, b2], bytes_0_2
crc_be[crc_5, --, $1], byte_3, bit_swap
ctx_arb[kill]
