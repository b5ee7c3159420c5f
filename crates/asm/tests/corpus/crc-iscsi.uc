; good
crc_be[crc_iscsi, a1, b2]
crc_le[crc_iscsi, --, b2], bytes_0_2
crc_be[crc_iscsi, --, $1], byte_3, bit_swap
ctx_arb[kill]
