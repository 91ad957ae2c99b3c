/* The lane: the messages of the control socket, binary frames and JSON, each behind its length
 * (u32, little-endian), over a Unix stream socket or TCP, for partners without a library.
 *
 *     client: length · frame                      length · {"op": "step", …}
 *     server: length · frame                      length · {"ok": true, …}
 *
 * The JSON part of a hello is the message that follows its frame, and so is that of a reply of kind
 * hello or error. The requests of one connection are done one after the other and answered in their
 * order; while one is at work nothing more is read of it. What is no frame and no JSON is refused
 * as over ZeroMQ, and the connection goes on; after a length beyond the limit it ends, because the
 * next message cannot be found.
 *
 * A few threads serve it, each connection by one of them: it reads a request, runs a short one as
 * owner of its instance and writes the answer, with one call of the system for each (and one to
 * wait). Longer ones go to the step pool. shared: const once started, but for what internal.h says.
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
/* unix:PATH or tcp://HOST:PORT as it really is, or "" when closed. */
const char *mechd_lane_endpoint(const struct mechd_lane_door *l);
/* Connections. Any thread. */
int mechd_lane_connections(const struct mechd_lane_door *l);
/* Have all threads turned since this was asked last? Wakes them. For one watchdog. */
bool mechd_lane_turns(struct mechd_lane_door *l);
/* Send the answers that stand, for --settle-ms at most, then end the threads and close. When no
 * call is in flight. */
void mechd_lane_stop(struct mechd_lane_door *l);
