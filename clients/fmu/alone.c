/* What lets the binary of an FMU run with the C library alone, of glibc 2.28 or later.
 *
 * The libraries that it contains were built as parts of programs: they expect streams of the C
 * library as variables, several threads, and methods of CHOLMOD that the solver does not use. Each
 * of these names is defined here, so that the linker takes no further member of an archive for it;
 * none is visible outside. Functions of the C library that have had a newer version since (without
 * another result, but for errno) are called by the older one.
 *
 * Where one of the libraries is missing as an archive, the binary is linked to shared ones, without
 * this file.
 */
#include <stdatomic.h>

/* --- the C library ---------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define OLD "GLIBC_2.2.5"
#else
#define OLD "GLIBC_2.17"
#endif

#define OLD_1(name)                                                                                \
    __asm__(".symver mechfmu_" #name "," #name "@" OLD);                                           \
    double mechfmu_##name(double x);                                                               \
    double mechfmu_own_##name(double x) __asm__(#name);                                            \
    double mechfmu_own_##name(double x)                                                            \
    {                                                                                              \
        return mechfmu_##name(x);                                                                  \
    }
#define OLD_2(name)                                                                                \
    __asm__(".symver mechfmu_" #name "," #name "@" OLD);                                           \
    double mechfmu_##name(double x, double y);                                                     \
    double mechfmu_own_##name(double x, double y) __asm__(#name);                                  \
    double mechfmu_own_##name(double x, double y)                                                  \
    {                                                                                              \
        return mechfmu_##name(x, y);                                                               \
    }

OLD_1(exp)
OLD_1(exp2)
OLD_2(hypot)
OLD_1(log)
OLD_1(log2)
OLD_2(pow)

/* position-independent programs read these without the indirection that a library needs; here they
 * are compared at most */
void *mechfmu_stdin __asm__("stdin");
void *mechfmu_stdout __asm__("stdout");
void *mechfmu_stderr __asm__("stderr");

/* of the control, 0 has not begun, 1: at work, 2: done */
int mechfmu_once(int *control, void (*routine)(void)) __asm__("pthread_once");
int mechfmu_once(int *control, void (*routine)(void))
{
    _Atomic int *const state = (_Atomic int *)control;
    int before = 0;

    if (atomic_compare_exchange_strong(state, &before, 1)) {
        routine();
        atomic_store(state, 2);
    }
    while (atomic_load(state) != 2) {
    }
    return 0;
}

/* --- OpenBLAS: one thread --------------------------------------------------------------------- */

extern int blas_cpu_number, blas_num_threads;
extern int blas_server_avail;
int blas_server_avail;

int blas_thread_init(void);
int blas_thread_init(void)
{
    blas_cpu_number = blas_num_threads = blas_server_avail = 1;
    return 0;
}

int blas_thread_shutdown_(void);
int blas_thread_shutdown_(void)
{
    blas_server_avail = 0;
    return 0;
}

/* of what is asked for, one is there */
void goto_set_num_threads(int count);
void goto_set_num_threads(int count)
{
    (void)count;
    blas_cpu_number = blas_num_threads = 1;
}

void openblas_set_num_threads(int count);
void openblas_set_num_threads(int count)
{
    goto_set_num_threads(count);
}

/* --- never called ----------------------------------------------------------------------------- */

#define UNUSED(name)                                                                               \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }

/* of OpenBLAS with one thread */
UNUSED(exec_blas)
UNUSED(exec_blas_async)
UNUSED(exec_blas_async_wait)
UNUSED(gotoblas_pthread)
UNUSED(openblas_getaffinity)
UNUSED(openblas_setaffinity)

/* of CHOLMOD where factors are simplicial and ordered by AMD */
UNUSED(cholmod_metis)
UNUSED(cholmod_nested_dissection)
UNUSED(cholmod_super_lsolve)
UNUSED(cholmod_super_ltsolve)
UNUSED(cholmod_super_numeric)
UNUSED(cholmod_super_symbolic)
UNUSED(cholmod_super_symbolic2)
