#include "run.h"
static struct { u32 key; s16 count; } table[128];
int main(void) {
    for (int i = 0; i < 1000; i++) {
        u32 key = next() % 90 + 1, at = key * 2654435761u >> 25;
        while (table[at].key && table[at].key != key) at = (at + 1) & 127;
        table[at].key = key; table[at].count++;
    }
    for (int i = 0; i < 128; i += 7) hex((u64)table[i].key << 32 | (u16)table[i].count);
    return 0;
}
