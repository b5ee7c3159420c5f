#include "wide.h"

int wide_compare(const struct wide *a, const struct wide *b)
{
    for (int i = 3; i >= 0; i--)
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

void wide_add(struct wide *to, const struct wide *other)
{
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += (uint64_t)to->word[i] + other->word[i];
        to->word[i] = (uint32_t)sum;
        sum >>= 32;
    }
}

void wide_subtract(struct wide *from, const struct wide *other)
{
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t rest = (uint64_t)from->word[i] - other->word[i] - borrow;
        from->word[i] = (uint32_t)rest;
        borrow = rest >> 63;
    }
}

void wide_multiply(struct wide *it, uint32_t by)
{
    uint64_t product = 0;
    for (int i = 0; i < 4; i++) {
        product += (uint64_t)it->word[i] * by;
        it->word[i] = (uint32_t)product;
        product >>= 32;
    }
}

void wide_multiply_64(struct wide *it, uint64_t by)
{
    struct wide high = *it;
    wide_multiply(it, (uint32_t)by);
    if (by >> 32) {
        wide_multiply(&high, (uint32_t)(by >> 32));
        wide_shift_left(&high, 32);
        wide_add(it, &high);
    }
}

void wide_shift_left(struct wide *it, uint32_t bits)
{
    for (; bits >= 32; bits -= 32) {
        for (int i = 3; i > 0; i--)
            it->word[i] = it->word[i - 1];
        it->word[0] = 0;
    }
    if (!bits)
        return;
    for (int i = 3; i > 0; i--)
        it->word[i] = it->word[i] << bits | it->word[i - 1] >> (32 - bits);
    it->word[0] <<= bits;
}

static void halve(struct wide *it)
{
    for (int i = 0; i < 3; i++)
        it->word[i] = it->word[i] >> 1 | it->word[i + 1] << 31;
    it->word[3] >>= 1;
}

uint32_t wide_bits(const struct wide *it)
{
    for (int i = 3; i >= 0; i--)
        if (it->word[i])
            return (uint32_t)(32 * i + 32 - __builtin_clz(it->word[i]));
    return 0;
}

struct wide wide_divide(struct wide *numerator, const struct wide *denominator)
{
    struct wide quotient = wide_of(0), part = *denominator;
    int up = (int)wide_bits(numerator) - (int)wide_bits(denominator);
    if (up < 0 || wide_is_zero(denominator))
        return quotient;
    wide_shift_left(&part, (uint32_t)up);
    for (; up >= 0; up--) {
        if (wide_compare(numerator, &part) >= 0) {
            wide_subtract(numerator, &part);
            quotient.word[up >> 5] |= 1u << (up & 31);
        }
        halve(&part);
    }
    return quotient;
}
