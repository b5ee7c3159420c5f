/* Formatted output to the UART. */
#ifndef PRINT_H
#define PRINT_H

/* %c, %s, %%, %d, %u and %x, numbers with an optional width such as %8u or %08x, and %I for an IPv4 address. */
void print(const char *format, ...) __attribute__((nonnull(1)));

#endif
