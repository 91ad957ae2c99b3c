/* The program's folder by /proc/self/exe (proc(5)). */
#include "server/os/beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool mechd_beside(const char *const places[], char *path, size_t size)
{
    char program[4096];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    program[n > 0 ? n : 0] = '\0';
    char *const slash = strrchr(program, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    for (size_t k = 0; places[k] != NULL; k++) {
        const int length = snprintf(path, size, "%s/%s", program, places[k]);
        if (length > 0 && (size_t)length < size && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}
