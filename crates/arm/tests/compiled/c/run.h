/* What the programs share: numbers of fixed size, printing. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;

void write_bytes(const void *bytes, u32 count);

static u32 length(const char *text) {
    u32 n = 0;
    while (text[n])
        n++;
    return n;
}

static void say(const char *text) { write_bytes(text, length(text)); }

static void hex(u64 value) {
    char text[17];
    for (int i = 15; i >= 0; i--, value >>= 4)
        text[i] = "0123456789abcdef"[value & 15];
    text[16] = '\n';
    write_bytes(text, 17);
}

static u32 seed = 1;
static u32 next(void) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

/* What compilers call of themselves. */
__attribute__((weak)) void *memcpy(void *to, const void *from, u32 n) {
    u8 *a = to;
    const u8 *b = from;
    while (n--)
        *a++ = *b++;
    return to;
}
__attribute__((weak)) void *memset(void *to, int value, u32 n) {
    u8 *a = to;
    while (n--)
        *a++ = value;
    return to;
}
