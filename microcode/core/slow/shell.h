/* A shell on the UART: shows the core's state and changes routes. */
#ifndef SHELL_H
#define SHELL_H

void shell_start(void);
/* Reads the bytes that have arrived and executes complete lines. */
void shell_read(void);

#endif
