#include "run.h"
static u32 table[256];
int main(void) {
    for (u32 i = 0; i < 256; i++) {
        u32 c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
        table[i] = c;
    }
    u32 crc = ~0u;
    for (int i = 0; i < 3000; i++) crc = table[(crc ^ next()) & 255] ^ crc >> 8;
    hex(~crc);
    return 0;
}
