/* ixp.h: the chip as the general-purpose core sees it.
 *
 * Names and tables that a project supplies (IMPORT, TABLE), and inline functions for the windows of the
 * memory map: SRAM, scratch, DRAM, rings, queues, interrupts, timers and the UART.
 *
 * The chip's memory consists of longwords. A longword has the same value for the core and for the
 * microengines in either byte order. The bytes of a packet are placed as the microengines see them,
 * the first in bits 31-24 of its longword. Programs therefore read and write packet bytes as
 * longwords, so that the same source works in both byte orders.
 *
 * An SRAM address has the microengines' format: the channel in bits 31-30, a byte address below.
 */
#ifndef IXP_H
#define IXP_H

#include <stddef.h>
#include <stdint.h>

/* ---- names of the project ---- */

/* A longword that the loader sets to the value of a project's name before the program starts:
 *     IMPORT(EXCEPTION_RING_NUMBER);   ...   ring_get(VALUE(EXCEPTION_RING_NUMBER))
 * The names are those visible to microcode sources and those under `import` in [gpp.program]. Each file that uses a
 * name declares it; several files may declare the same one. A name that the project does not define is an error. Each
 * name has a separate section, so that the linker can discard those that no function of the program uses. */
#define IMPORT(name) \
    const volatile uint32_t __attribute__((weak, section(".imports." #name))) import_##name = 0
/* Like IMPORT, but with a default value, which is kept if the project does not define the name. */
#define IMPORT_OR(name, value) \
    const volatile uint32_t __attribute__((weak, section(".imports." #name))) default_##name = (value)
#define VALUE(name) (import_##name)
#define VALUE_OR(name) (default_##name)

/* A table of the project: the loader stores the number of records here, followed by the records. */
#define TABLE(name, type, room) \
    static const volatile struct { uint32_t count; type record[room]; } table_##name \
        __attribute__((section(".imports." #name))) = { 0 }

/* A port: the router's IPv4 address on it and the prefix length of its network, the upper 32 and the lower
 * 16 bits of its link-layer address, and its rate. */
struct port {
    uint32_t address, length, mac_high, mac_low, mbps;
};

/* A next hop that ARP resolves: the index of its entry in the table of next hops, its port, IPv4 address and
 * MTU. */
struct hop_entry {
    uint32_t index, port, address, mtu;
};

/* A route that is in the table before the program starts. */
struct route_entry {
    uint32_t prefix, length, hop;
};

/* Frequencies in Hz. */
struct clocks {
    uint32_t core, timers, microengines;
};

/* ---- windows ---- */

#define IXP_SRAM 0x80000000u       /* one channel every 0x10000000 */
#define IXP_SCRATCH 0xca000000u
#define IXP_RINGS 0xcb400000u      /* one ring per longword: a load gets, a store puts */
#define IXP_QUEUES 0xcc000100u     /* one Q-array entry per longword, one channel every 0x400000 */
#define IXP_RING_STATE 0xc0004800u /* base, head and tail of a ring, 16 bytes per ring */
#define IXP_TIMERS 0xc0020000u
#define IXP_UART 0xc0030000u
#define IXP_INTERRUPTS 0xd6000000u

/* What a store does at each alias of SRAM and scratch. SWP, which reads and writes in one
 * access, also returns the previous value. */
enum atomic { ATOMIC_WRITE, ATOMIC_CLEAR, ATOMIC_SET, ATOMIC_ADD };
#define IXP_SRAM_ALIAS 0x04000000u
#define IXP_SCRATCH_ALIAS 0x00100000u

static inline volatile uint32_t *ixp_register(uint32_t address)
{
    return (volatile uint32_t *)(uintptr_t)address;
}

static inline uint32_t ixp_swap(uint32_t address, uint32_t value)
{
#ifdef __arm__
    uint32_t old;
    __asm__ volatile("swp %0, %1, [%2]" : "=&r"(old) : "r"(value), "r"(address) : "memory");
    return old;
#else
    volatile uint32_t *at = ixp_register(address);
    uint32_t old = *at;
    *at = value;
    return old;
#endif
}

/* ---- bursts ---- */

/* Consecutive longwords outside the program's own memory, at an address aligned to their total size: LDM and STM
 * make one access to a line of 32 bytes, whereas single loads and stores make one access each. */
#ifdef __arm__
static inline void burst_read_4(uint32_t from, uint32_t *to)
{
    __asm__ volatile("ldmia %0, {r3-r6}\n\tstmia %1, {r3-r6}"
                     : : "r"(from), "r"(to) : "r3", "r4", "r5", "r6", "memory");
}

static inline void burst_read_8(uint32_t from, uint32_t *to)
{
    __asm__ volatile("ldmia %0, {r3-r10}\n\tstmia %1, {r3-r10}"
                     : : "r"(from), "r"(to) : "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "memory");
}

static inline void burst_write_4(uint32_t to, const uint32_t *from)
{
    __asm__ volatile("ldmia %1, {r3-r6}\n\tstmia %0, {r3-r6}"
                     : : "r"(to), "r"(from) : "r3", "r4", "r5", "r6", "memory");
}

static inline void burst_write_8(uint32_t to, const uint32_t *from)
{
    __asm__ volatile("ldmia %1, {r3-r10}\n\tstmia %0, {r3-r10}"
                     : : "r"(to), "r"(from) : "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "memory");
}
#else
static inline void burst_read(uint32_t from, uint32_t *to, uint32_t count)
{
    for (uint32_t word = 0; word < count; word++)
        to[word] = *ixp_register(from + 4 * word);
}

static inline void burst_read_4(uint32_t from, uint32_t *to)
{
    burst_read(from, to, 4);
}

static inline void burst_read_8(uint32_t from, uint32_t *to)
{
    burst_read(from, to, 8);
}

static inline void burst_write(uint32_t to, const uint32_t *from, uint32_t count)
{
    for (uint32_t word = 0; word < count; word++)
        *ixp_register(to + 4 * word) = from[word];
}

static inline void burst_write_4(uint32_t to, const uint32_t *from)
{
    burst_write(to, from, 4);
}

static inline void burst_write_8(uint32_t to, const uint32_t *from)
{
    burst_write(to, from, 8);
}
#endif

/* ---- SRAM ---- */

/* Converts an SRAM address of the microengines to the core's address. */
static inline uint32_t sram_window(uint32_t address)
{
    return IXP_SRAM | (address >> 30) << 28 | (address & 0x03fffffc);
}

static inline uint32_t sram_read(uint32_t address)
{
    return *ixp_register(sram_window(address));
}

static inline void sram_write(uint32_t address, uint32_t value)
{
    *ixp_register(sram_window(address)) = value;
}

static inline void sram_atomic(enum atomic what, uint32_t address, uint32_t value)
{
    *ixp_register(sram_window(address) + what * IXP_SRAM_ALIAS) = value;
}

/* The same, but returns the previous value. */
static inline uint32_t sram_test(enum atomic what, uint32_t address, uint32_t value)
{
    return ixp_swap(sram_window(address) + what * IXP_SRAM_ALIAS, value);
}

/* ---- scratch ---- */

static inline uint32_t scratch_read(uint32_t address)
{
    return *ixp_register(IXP_SCRATCH + address);
}

static inline void scratch_write(uint32_t address, uint32_t value)
{
    *ixp_register(IXP_SCRATCH + address) = value;
}

static inline void scratch_atomic(enum atomic what, uint32_t address, uint32_t value)
{
    *ixp_register(IXP_SCRATCH + address + what * IXP_SCRATCH_ALIAS) = value;
}

static inline uint32_t scratch_test(enum atomic what, uint32_t address, uint32_t value)
{
    return ixp_swap(IXP_SCRATCH + address + what * IXP_SCRATCH_ALIAS, value);
}

/* ---- DRAM ---- */

static inline uint32_t dram_read(uint32_t address)
{
    return *ixp_register(address);
}

static inline void dram_write(uint32_t address, uint32_t value)
{
    *ixp_register(address) = value;
}

/* ---- rings ---- */

/* Gets the next longword from a ring, 0 if the ring is empty. */
static inline uint32_t ring_get(uint32_t number)
{
    return *ixp_register(IXP_RINGS + 4 * number);
}

static inline void ring_put(uint32_t number, uint32_t value)
{
    *ixp_register(IXP_RINGS + 4 * number) = value;
}

/* Whether a longword can be put onto a ring of `size` longwords: a put onto a full ring would overwrite
 * the oldest one. A ring counts as full when one place is still free, since equal head and tail mean
 * that it is empty. */
static inline int ring_has_room(uint32_t number, uint32_t size)
{
    uint32_t state = IXP_RING_STATE + 16 * number;
    uint32_t head = *ixp_register(state + 4), tail = *ixp_register(state + 8);
    return ((tail - head) & (4 * size - 1)) < 4 * size - 4;
}

/* ---- queues ---- */

/* Dequeues the longword at the head of a queue, 0 if it is empty: a handle with the link bits above it. */
static inline uint32_t queue_dequeue(uint32_t channel, uint32_t entry)
{
    return *ixp_register(IXP_QUEUES + channel * 0x400000 + 4 * entry);
}

static inline void queue_enqueue(uint32_t channel, uint32_t entry, uint32_t buffer)
{
    *ixp_register(IXP_QUEUES + channel * 0x400000 + 4 * entry) = buffer;
}

/* ---- interrupts ---- */

enum interrupt { INTERRUPT_UART = 2, INTERRUPT_TIMER_1 = 4, INTERRUPT_THREADS_A = 16, INTERRUPT_THREADS_B = 24 };

static inline uint32_t interrupt_status(void)
{
    return *ixp_register(IXP_INTERRUPTS + 0x08);
}

static inline void interrupt_enable(uint32_t lines)
{
    *ixp_register(IXP_INTERRUPTS + 0x10) = lines;
}

static inline void interrupt_disable(uint32_t lines)
{
    *ixp_register(IXP_INTERRUPTS + 0x18) = lines;
}

/* Returns and acknowledges the threads that raised interrupt A (0) or B (1), as a mask of 32 from 32 * `word` on. */
static inline uint32_t thread_interrupts(uint32_t which, uint32_t word)
{
    volatile uint32_t *raw = ixp_register(IXP_INTERRUPTS + 0x60 + 0x20 * which + 4 * word);
    uint32_t threads = *raw;
    *raw = threads;
    return threads;
}

static inline void thread_interrupts_enable(uint32_t which, uint32_t word, uint32_t threads)
{
    *ixp_register(IXP_INTERRUPTS + 0x160 + 0x20 * which + 4 * word) = threads;
}

#ifdef __arm__
/* Enables IRQs. */
static inline void irq_on(void)
{
    uint32_t state;
    __asm__ volatile("mrs %0, cpsr\n\tbic %0, %0, #0x80\n\tmsr cpsr_c, %0" : "=r"(state) : : "memory");
}

/* Disables IRQs. */
static inline void irq_off(void)
{
    uint32_t state;
    __asm__ volatile("mrs %0, cpsr\n\torr %0, %0, #0x80\n\tmsr cpsr_c, %0" : "=r"(state) : : "memory");
}

/* Waits for an interrupt, masked or not: the XScale's idle mode. */
static inline void wait_for_interrupt(void)
{
    __asm__ volatile("mcr p14, 0, %0, c7, c0, 0" : : "r"(1) : "memory");
}
#endif

/* The program's IRQ handler; crt0 saves and restores registers. */
void irq(void);

/* ---- timers: 1 to 4, which count down ---- */

enum { TIMER_ON = 0x80 };

/* Starts a timer that raises its interrupt after `ticks` ticks, and then periodically. */
static inline void timer_start(uint32_t timer, uint32_t ticks)
{
    uint32_t base = IXP_TIMERS + 4 * (timer - 1);
    *ixp_register(base) = 0;
    *ixp_register(base + 0x10) = ticks;
    *ixp_register(base) = TIMER_ON;
}

static inline void timer_stop(uint32_t timer)
{
    *ixp_register(IXP_TIMERS + 4 * (timer - 1)) = 0;
}

/* Acknowledges a timer's interrupt. */
static inline void timer_clear(uint32_t timer)
{
    *ixp_register(IXP_TIMERS + 4 * (timer - 1) + 0x30) = 1;
}

/* Ticks until the timer expires. */
static inline uint32_t timer_count(uint32_t timer)
{
    return *ixp_register(IXP_TIMERS + 4 * (timer - 1) + 0x20);
}

/* ---- UART ---- */

static inline void uart_put(char byte)
{
    while (!(*ixp_register(IXP_UART + 0x14) & 0x20))
        ;
    *ixp_register(IXP_UART) = (uint8_t)byte;
}

/* Reads a received byte, -1 if there is none. */
static inline int uart_get(void)
{
    if (!(*ixp_register(IXP_UART + 0x14) & 1))
        return -1;
    return (int)(*ixp_register(IXP_UART) & 0xff);
}

/* Sets whether reception raises INTERRUPT_UART. */
static inline void uart_interrupts(int on)
{
    *ixp_register(IXP_UART + 0x04) = on ? 1 : 0;
}

#endif
