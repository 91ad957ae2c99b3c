/* The ZeroMQ door: one thread with a ROUTER (control), an XPUB (stream) and a PULL (forces).
 *
 * The thread reads requests, runs the short ones itself and sends every answer; other threads put
 * their answers and frames in an outbox and wake it. shared: const once started, outbox locked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mechd_service;
struct mechd_zmq;

enum mechd_zmq_socket { MECHD_ZMQ_CONTROL, MECHD_ZMQ_STREAM, MECHD_ZMQ_FORCES, MECHD_ZMQ_SOCKETS };
/* Its name in options, in the log and in /metrics. */
const char *mechd_zmq_socket_name(enum mechd_zmq_socket socket);

/* Bind; endpoints are known from then on. Negative: a sentence is in `fault`. */
int mechd_zmq_open(struct mechd_service *d, struct mechd_zmq **out, char *fault, size_t size);
/* Start the thread. Negative: it cannot be started. */
int mechd_zmq_run(struct mechd_zmq *z);
/* Actual endpoint, or "" when closed. */
const char *mechd_zmq_endpoint(const struct mechd_zmq *z, enum mechd_zmq_socket socket);
/* The version of libzmq, as text. */
void mechd_zmq_library(char *out, size_t size);
/* Wakes the thread, and counts its iterations: for a watchdog. Any thread. */
void mechd_zmq_poke(struct mechd_zmq *z);
uint64_t mechd_zmq_turns(struct mechd_zmq *z);
/* The permitted keys have changed: connections with other keys end. Any thread. */
void mechd_zmq_recheck(struct mechd_zmq *z);
/* Connections of a socket. Any thread. */
int mechd_zmq_connections(struct mechd_zmq *z, enum mechd_zmq_socket socket);
/* Messages in the outbox. Any thread. */
int mechd_zmq_waiting(struct mechd_zmq *z);
/* Send the letters in the outbox, then end the thread and close. */
void mechd_zmq_stop(struct mechd_zmq *z);
