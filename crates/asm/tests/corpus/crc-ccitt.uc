; good
crc_be[crc_ccitt, a1, b2]
crc_le[crc_ccitt, --, b2], bytes_0_2
crc_be[crc_ccitt, --, $1], byte_3, bit_swap
ctx_arb[kill]
