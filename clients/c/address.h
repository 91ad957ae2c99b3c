/* Addresses of servers and paths of requests, looked at before anything is sent: curl cuts some
 * off, encodes others, and calls what is left unreachable. Any thread. Internal to libmechc. */
#pragma once

#include <stddef.h>

/* What is wrong with "http://host:port" or "https://…", possibly with a path of a proxy behind it:
 * the end of a sentence that begins with it, of static storage; NULL: nothing. */
const char *mechc_address_fault(const char *base);

/* The same for a path with its query, "/v1/instances?limit=2", and for the name of a method. */
const char *mechc_path_fault(const char *path);
const char *mechc_method_fault(const char *method);
