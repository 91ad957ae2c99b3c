/* The context of a trace: the header `traceparent` of W3C Trace Context, level 1.
 *
 *   00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *   version, trace-id (32 digits), parent-id (16 digits), flags; lower-case hexadecimal
 *
 * A request that brings one keeps its trace-id and its flags; the request itself gets an id of its
 * own, under which it stands in the log and in the answer. What is missing or faulty is replaced
 * by a
 * new trace that nobody records (flags 00). Any thread. */
#pragma once

enum { MECHD_TRACE = 56 }; /* with the closing zero */

/* `given` NULL: there is none. */
void mechd_trace_take(const char *given, char out[MECHD_TRACE]);
