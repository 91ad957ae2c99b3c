/* RFC 3986, sections 3.2 and 3.3; RFC 9110, section 9.1. Letters beyond ASCII are left to curl,
 * which knows names of hosts that have them. */
#include "clients/c/address.h"

#include "solver/base/odd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A blank, an end of a line, or a character that is not seen. */
static bool has_blank(const char *text)
{
    struct mech_odd odd;
    return strpbrk(text, " \t\r\n") || mech_text_odd(text, strlen(text), &odd);
}

const char *mechc_address_fault(const char *base)
{
    const char *const authority = strstr(base, "://") + 3;
    if (has_blank(base)) {
        return "it contains a blank";
    }
    if (strpbrk(base, "?#")) {
        return "it must not contain ? or #";
    }
    // a user and a password end with the last @
    const size_t whole = strcspn(authority, "/");
    const char *host = authority;
    for (size_t k = 0; k < whole; k++) {
        host = authority[k] == '@' ? authority + k + 1 : host;
    }
    const bool bracket = *host == '[';
    const size_t n = bracket ? strcspn(host, "]") : strcspn(host, ":/");
    if (n < 1 + (size_t)bracket) {
        return "the host is missing";
    }
    if (bracket && host[n] == '\0') {
        return "the bracket after the host is missing";
    }
    const char *const port = host + n + bracket;
    char *end = NULL;
    if (*port == '\0' || *port == '/') {
        return NULL;
    }
    const unsigned long number = port[1] >= '0' && port[1] <= '9' ? strtoul(port + 1, &end, 10) : 0;
    return *port == ':' && number >= 1 && number <= 65535 && (*end == '\0' || *end == '/') ? NULL
           : strchr(port + 1, ':') ? "an IPv6 address must be in brackets, as in [::1]"
                                   : "the port must be a number from 1 to 65535";
}

const char *mechc_path_fault(const char *path)
{
    return path[0] != '/'      ? "it does not begin with /"
           : has_blank(path)   ? "it contains a blank; write %20"
           : strchr(path, '#') ? "it contains a #; write %23"
                               : NULL;
}

const char *mechc_method_fault(const char *method)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *method != '\0' && method[strspn(method, letters)] == '\0'
               ? NULL
               : "it must be GET, POST, PUT, PATCH or DELETE";
}
