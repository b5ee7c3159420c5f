; good
crc_be[crc_10, a1, b2]
crc_le[crc_10, --, b2], bytes_0_2
crc_be[crc_10, --, $1], byte_3, bit_swap
ctx_arb[kill]
