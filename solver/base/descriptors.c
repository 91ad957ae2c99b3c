/* What is opened takes the lowest free number: while that is one of the three, it was closed. */
#include "solver/base/descriptors.h"

#include <stdio.h>

enum { STANDARD_ERROR = 2 };

void mech_descriptors_hold(void)
{
    FILE *file = fopen("/dev/null", "r");
    while (file && fileno(file) <= STANDARD_ERROR) {
        // kept open for the life of the process, and of those that it starts
        file = fopen("/dev/null", "r");
    }
    if (file) {
        fclose(file);
    }
}
