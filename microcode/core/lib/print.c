/* A small printf to the UART. */
#include <stdarg.h>
#include <stdint.h>

#include "ixp.h"
#include "print.h"

static void text(const char *text)
{
    while (*text)
        uart_put(*text++);
}

/* Prints a number in a base, padded to a width. */
static void number(uint32_t value, uint32_t base, int width, char fill)
{
    char digits[11], *at = digits + sizeof digits;
    *--at = 0;
    do {
        *--at = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    for (long have = digits + sizeof digits - 1 - at; have < width; have++)
        uart_put(fill);
    text(at);
}

void print(const char *format, ...)
{
    va_list all;
    va_start(all, format);
    for (; *format; format++) {
        if (*format != '%') {
            uart_put(*format);
            continue;
        }
        char fill = ' ';
        int width = 0;
        if (*++format == '0')
            fill = '0';
        for (; *format >= '0' && *format <= '9'; format++)
            width = width * 10 + *format - '0';
        switch (*format) {
        case 'c':
            uart_put((char)va_arg(all, int));
            break;
        case 's':
            text(va_arg(all, const char *));
            break;
        case 'd': {
            int value = va_arg(all, int);
            if (value < 0)
                uart_put('-');
            number(value < 0 ? -(uint32_t)value : (uint32_t)value, 10, width, fill);
            break;
        }
        case 'u':
            number(va_arg(all, uint32_t), 10, width, fill);
            break;
        case 'x':
            number(va_arg(all, uint32_t), 16, width, fill);
            break;
        case 'I': {
            uint32_t address = va_arg(all, uint32_t);
            for (int shift = 24; shift >= 0; shift -= 8) {
                number(address >> shift & 0xff, 10, 0, ' ');
                if (shift)
                    uart_put('.');
            }
            break;
        }
        default:
            uart_put(*format);
        }
    }
    va_end(all);
}
