/* The target of a request line, before anything in it is decoded: origin-form only (RFC 9112,
 * 3.2.1), visible ASCII, whole percent escapes, none of them a NUL. Any thread. Internal to
 * server/http. */
#pragma once

#include <stddef.h>

/* Arguments of a query; no operation has as many. */
enum { MECHD_ARGUMENTS_MOST = 64 };

/* Cut off a query that has more, behind its question mark, before libmicrohttpd takes it apart:
 * each argument takes some of the connection's memory, in which the answer has no room then. What
 * is wrong with it, as a sentence, or NULL. */
const char *mechd_target_bound(char *target);
/* What is wrong with the target, as a sentence, or NULL. */
const char *mechd_target_fault(const char *target);
