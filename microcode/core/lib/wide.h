/* Unsigned 128-bit numbers, for the products in divisions whose quotients have 32 or 64 bits. */
#ifndef WIDE_H
#define WIDE_H

#include <stdint.h>

/* Four longwords, the least significant first. */
struct wide {
    uint32_t word[4];
};

static inline struct wide wide_of(uint64_t value)
{
    return (struct wide){ { (uint32_t)value, (uint32_t)(value >> 32), 0, 0 } };
}

/* Converts a number to 64 bits; the largest 64-bit number if it does not fit. */
static inline uint64_t wide_to_64(const struct wide *it)
{
    if (it->word[2] | it->word[3])
        return UINT64_MAX;
    return (uint64_t)it->word[1] << 32 | it->word[0];
}

static inline int wide_is_zero(const struct wide *it)
{
    return !(it->word[0] | it->word[1] | it->word[2] | it->word[3]);
}

/* Below 0 if a is less than b, 0 if they are equal. */
int wide_compare(const struct wide *a, const struct wide *b);
void wide_add(struct wide *to, const struct wide *other);
void wide_subtract(struct wide *from, const struct wide *other);
/* Bits that do not fit are lost. */
void wide_multiply(struct wide *it, uint32_t by);
void wide_multiply_64(struct wide *it, uint64_t by);
void wide_shift_left(struct wide *it, uint32_t bits);
/* The numerator becomes the remainder. Division by 0 returns 0. */
struct wide wide_divide(struct wide *numerator, const struct wide *denominator);
/* Number of bits, without leading zeros. */
uint32_t wide_bits(const struct wide *it);

#endif
