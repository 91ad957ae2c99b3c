#include "server/os/shares.h"

#include <string.h>
#include <sys/resource.h>

/* The daemon's own: an idle one with all doors has 25 to 40 open, with a database and 16 addresses;
 * beside them files that are read, the watchdog's connection, and what grows with the workers. */
enum { OWN = 64, LEAST = 4 };

/* `wanted`, or its part of what there is for all. */
static int part(long wanted, long all, long left)
{
    const long most = wanted <= left * wanted / all ? wanted : left * wanted / all;
    return (int)(most > LEAST ? most : LEAST);
}

struct mechd_shares mechd_shares(const struct mechd_config *c)
{
    const char *const sockets[] = {c->control, c->stream, c->forces, c->lane};
    struct rlimit limit;
    struct mechd_shares s = {
        .http = c->connections, .reserve = MECHD_RESERVE_MOST, .zmq = MECHD_LINKS_MOST};
    long count = 0;
    for (size_t k = 0; k < sizeof sockets / sizeof *sockets; k++) {
        count += strcmp(sockets[k], "none") != 0;
    }
    const long http = c->connections + MECHD_RESERVE_MOST;
    const long hosted = strcmp(c->fmus, "on") == 0 ? MECHD_HOSTED_MOST : 0;
    const long all = c->listen_count * http + count * MECHD_LINKS_MOST + hosted;
    const bool known = getrlimit(RLIMIT_NOFILE, &limit) == 0;
    s.limit = known && limit.rlim_max < (rlim_t)1 << 30 ? (long)limit.rlim_max : 1L << 30;
    const long left = s.limit > OWN ? s.limit - OWN : 0;
    s.is_scarce = left < all;
    if (hosted > 0 && !s.is_scarce) {
        s.fmus = (int)(hosted + (left - all) / 2); // half of what nothing else needs
    }
    if (s.is_scarce) {
        // a quarter is for what has been accepted and is on its way out
        const long kept = left - left / 4;
        const int each = part(http, all, kept);
        s.reserve = each / 4 < MECHD_RESERVE_MOST ? each / 4 : MECHD_RESERVE_MOST;
        s.http = each - s.reserve;
        s.zmq = part(MECHD_LINKS_MOST, all, kept);
        s.fmus = hosted > 0 ? part(hosted, all, kept) : 0;
    }
    return s;
}
