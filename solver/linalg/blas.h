/* Identity of the BLAS: its version and kernel are in every snapshot and report, because other
 * kernels give other last bits. Any thread. */
#pragma once

/* "OpenBLAS 0.3.21, kernel Haswell"; static storage. */
const char *mech_blas_name(void);

/* One thread for all calls from now on: the same bits for any number of workers. */
void mech_blas_single_thread(void);
