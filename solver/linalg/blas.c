/* OpenBLAS describes itself. The text is built at each call from constants of the library, into a
 * buffer of the calling thread. */
#include "solver/linalg/blas.h"

#include <cblas.h>
#include <stdio.h>
#include <string.h>

const char *mech_blas_name(void)
{
    static _Thread_local char text[96];
    const char *const config = openblas_get_config();
    int major = 0, minor = 0, patch = 0;

    /* the configuration begins "OpenBLAS 0.3.21 NO_LAPACKE …" */
    if (config && sscanf(config, "OpenBLAS %d.%d.%d", &major, &minor, &patch) >= 2) {
        snprintf(text, sizeof text, "OpenBLAS %d.%d.%d, kernel %.48s", major, minor, patch,
                 openblas_get_corename());
    } else {
        snprintf(text, sizeof text, "OpenBLAS, kernel %.48s", openblas_get_corename());
    }
    return text;
}

void mech_blas_single_thread(void)
{
    openblas_set_num_threads(1);
}
