/* The target of a request line, before anything in it is decoded: origin-form only (RFC 9112,
 * 3.2.1), visible ASCII, whole percent escapes, none of them a NUL. Any thread. Internal to
 * server/http. */
#pragma once

#include <stddef.h>

/* What is wrong with the target, as a sentence, or NULL. */
const char *mechd_target_fault(const char *target);
