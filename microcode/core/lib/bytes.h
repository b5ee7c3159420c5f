/* Reads and writes numbers in network order at any alignment. */
#ifndef BYTES_H
#define BYTES_H

#include <stdint.h>

static inline uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t get32(const uint8_t *at)
{
    return get16(at) << 16 | get16(at + 2);
}

static inline void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value);
}

/* Converts a longword loaded from bytes in network order to its value, and back. */
static inline uint32_t network_longword(uint32_t in_memory)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return in_memory;
#else
    return __builtin_bswap32(in_memory);
#endif
}

#endif
