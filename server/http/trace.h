/* The context of a trace: the header `traceparent` of W3C Trace Context, level 1.
 *
 *   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *   version, trace-id (32 digits), parent-id (16 digits), flags; lower-case hexadecimal
 *
 * A request that has one keeps its trace-id and its flags; the request itself gets an id of its
 * own, which is used in the log and in the answer. A missing or invalid header is replaced by a new
 * trace that is not recorded (flags 00). Any thread. */
#pragma once

enum { MECHD_TRACE = 56 }; /* with the closing zero */

/* `given` NULL: there is none. */
void mechd_trace_take(const char *given, char out[MECHD_TRACE]);
