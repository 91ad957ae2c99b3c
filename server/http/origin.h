/* Pages of other sites. A browser lets any page send requests to a server on this machine, and a
 * name that its owner points at 127.0.0.1 (DNS rebinding) makes them of one origin. So, without
 * tokens:
 *
 *   - an address of the loopback is called by its names: localhost, 127.x.y.z, [::1], those of
 *     --host; with --host every address but a Unix socket is;
 *   - what carries an Origin comes from this server itself (the authority equals Host), or from an
 *     origin of --cors; everything else is refused, with tokens too.
 *
 * A server behind a proxy that keeps Host has that name in --host. Clients that are no
 * browsers send no Origin. With --cors those origins get what the Fetch standard asks for: answers
 * that their scripts may read, and preflights. Any thread. Internal to server/http.
 */
#pragma once

#include "server/http/exchange.h"

/* Refuse what comes from elsewhere; remembers an origin that is allowed. 0, or refused. */
int mechd_origin_admit(struct mechd_exchange *x);

/* Add what scripts of other origins need in order to read this answer. */
void mechd_origin_mark(const struct mechd_exchange *x, struct MHD_Response *response);

/* The answer to OPTIONS: what a path takes, and whether a script may. `allow`: the methods. NULL:
 * no memory. */
struct MHD_Response *mechd_origin_preflight(const struct mechd_exchange *x, const char *allow);
