typedef unsigned u32;

#define AT(address) (*(volatile u32 *)(address))
#define SCRATCH(address) AT(0xca000000u + (address))
#define SRAM0(address) AT(0x80000000u + (address))
#define RING(number) AT(0xcb400000u + 4 * (number))
#define INTERRUPTS(offset) AT(0xd6000000u + (offset))
#define TIMERS(offset) AT(0xc0020000u + (offset))
#define UART(offset) AT(0xc0030000u + (offset))

/* What Thumb has no instructions for is ARM code, which Thumb code calls. */
#ifdef __thumb__
#define STATE static __attribute__((noinline, unused, target("arm")))
#else
#define STATE static inline
#endif

STATE void wait_for_interrupt(void)
{
    __asm__ volatile("mcr p14, 0, %0, c7, c0, 0" : : "r"(1) : "memory");
}

STATE void irq_on(void)
{
    u32 state;
    __asm__ volatile("mrs %0, cpsr\n\tbic %0, %0, #0x80\n\tmsr cpsr_c, %0" : "=r"(state) : : "memory");
}

STATE void fiq_on(void)
{
    u32 state;
    __asm__ volatile("mrs %0, cpsr\n\tbic %0, %0, #0x40\n\tmsr cpsr_c, %0" : "=r"(state) : : "memory");
}

STATE void irq_off(void)
{
    u32 state;
    __asm__ volatile("mrs %0, cpsr\n\torr %0, %0, #0x80\n\tmsr cpsr_c, %0" : "=r"(state) : : "memory");
}

STATE u32 swap(u32 address, u32 value)
{
    u32 old;
    __asm__ volatile("swp %0, %1, [%2]" : "=&r"(old) : "r"(value), "r"(address) : "memory");
    return old;
}

static inline void print(const char *text)
{
    for (; *text; text++)
        UART(0) = (unsigned char)*text;
}

static inline void print_number(u32 value)
{
    for (int shift = 28; shift >= 0; shift -= 4)
        UART(0) = "0123456789abcdef"[value >> shift & 15];
    UART(0) = '\n';
}
