#include "server/os/address.h"

#include <stddef.h>
#include <string.h>

bool mechd_address_is_tls(const char *address)
{
    return strncmp(address, "https://", 8) == 0;
}

const char *mechd_address_host(const char *address)
{
    return mechd_address_is_tls(address)         ? address + 8
           : strncmp(address, "http://", 7) == 0 ? address + 7
                                                 : address;
}

bool mechd_address_is_local(const char *address)
{
    address = mechd_address_host(address);
    static const char *const local[] = {"unix:",      "ipc://",           "inproc://",
                                        "127.",       "localhost:",       "[::1]:",
                                        "tcp://127.", "tcp://localhost:", "tcp://[::1]:"};
    for (size_t k = 0; k < sizeof local / sizeof *local; k++) {
        if (strncmp(address, local[k], strlen(local[k])) == 0) {
            return true;
        }
    }
    return strcmp(address, "none") == 0;
}
