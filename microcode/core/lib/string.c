/* Functions that the compiler expects every C library to have. */
#include "string.h"

#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if ((((uintptr_t)t | (uintptr_t)f) & 3) == 0) {
        uint32_t *words = to;
        const uint32_t *others = from;
        for (; count >= 4; count -= 4)
            *words++ = *others++;
        t = (uint8_t *)words;
        f = (const uint8_t *)others;
    }
    while (count--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if (t <= f)
        while (count--)
            *t++ = *f++;
    else
        while (count--)
            t[count] = f[count];
    return to;
}

void *memset(void *to, int value, size_t count)
{
    uint8_t *t = to;
    for (; count && ((uintptr_t)t & 3); count--)
        *t++ = (uint8_t)value;
    uint32_t *words = (uint32_t *)t, all = (uint8_t)value * 0x01010101u;
    for (; count >= 4; count -= 4)
        *words++ = all;
    t = (uint8_t *)words;
    while (count--)
        *t++ = (uint8_t)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t count)
{
    const uint8_t *x = a, *y = b;
    for (; count; count--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}
