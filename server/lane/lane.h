/* The lane: the messages of the control socket, binary frames and JSON, each preceded by its length
 * (u32, little-endian), over a Unix stream socket or TCP, for partners without a messaging library.
 *
 *     client: length · frame                      length · {"op": "step", …}
 *     server: length · frame                      length · {"ok": true, …}
 *
 * The JSON part of a hello is the message that follows its frame, and so is that of a reply of kind
 * hello or error. The requests of one connection are executed one at a time and answered in their
 * order; while one is in progress nothing more is read from it. A message that is neither a frame
 * nor JSON is refused as over ZeroMQ, and the connection continues; after a length beyond the limit
 * it ends, because the next message cannot be found.
 *
 * A few threads serve it, each connection by one of them: it reads a request, runs a short one as
 * owner of its instance and writes the answer, with one system call for each (and one to wait).
 * Longer ones go to the step pool. shared: const once started, except as noted in internal.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct mechd_lane_door;
struct mechd_service;

/* Listen at config.lane; NULL in *out when that is "none". Negative: a sentence is in `fault`. */
int mechd_lane_open(struct mechd_service *s, struct mechd_lane_door **out, char *fault,
                    size_t size);
/* Start the threads. Negative: they cannot be started. */
int mechd_lane_run(struct mechd_lane_door *l);
/* unix:PATH or tcp://HOST:PORT as actually bound, or "" when closed. */
const char *mechd_lane_endpoint(const struct mechd_lane_door *l);
/* Connections. Any thread. */
int mechd_lane_connections(const struct mechd_lane_door *l);
/* True if all threads have iterated since the last call. Wakes them. For one watchdog. */
bool mechd_lane_turns(struct mechd_lane_door *l);
/* Send the completed answers, for at most --settle-ms, then end the threads and close. When no call
 * is in flight. */
void mechd_lane_stop(struct mechd_lane_door *l);
