/* Subnormal numbers as zero, while a step is computed.
 *
 * A system that decays without a drive ends in numbers below 2.2e-308, with which processors
 * calculate up to a hundred times slower than with others. Within steps they count as zero, as
 * operands and as results: a change below any tolerance, and the same in every thread, because each
 * piece of a command sets it for itself and puts the thread's mode back. On other processors than
 * x86-64 and AArch64 nothing is changed.
 *
 *   const unsigned long mode = mech_subnormal_off();
 *   …
 *   mech_subnormal_restore(mode);
 */
#pragma once

#if defined(__x86_64__)

/* Of the register MXCSR: results flushed to zero (bit 15), operands taken as zero (bit 6). */
static inline unsigned long mech_subnormal_off(void)
{
    const unsigned int mode = __builtin_ia32_stmxcsr();

    __builtin_ia32_ldmxcsr(mode | 0x8040u);
    return mode;
}

static inline void mech_subnormal_restore(unsigned long mode)
{
    __builtin_ia32_ldmxcsr((unsigned int)mode);
}

#elif defined(__aarch64__)

/* Of the register FPCR: FZ, bit 24, both. */
static inline unsigned long mech_subnormal_off(void)
{
    unsigned long mode;

    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1ul << 24));
    return mode;
}

static inline void mech_subnormal_restore(unsigned long mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

#else

static inline unsigned long mech_subnormal_off(void)
{
    return 0;
}

static inline void mech_subnormal_restore(unsigned long mode)
{
    (void)mode;
}

#endif
