/* The stream: one frame per committed communication step, encoded only for topics with a subscriber
 * ("state/{id}/" binary, "json/{id}/" text), and those that clients have chosen
 * ("pick/{id}/{name}/", instance/picks.h). A subscription to "ready/{anything}/" is answered under
 * that topic by an empty frame: what its connection has subscribed to before stands. */
#pragma once

#include "server/instance/instance.h"

struct mechd_zmq;

/* Observer of instances. Of a step, as owner: encode for the topics with subscribers and put the
 * frames in the outbox. Of a new instance: find out whether its topics have subscribers already. */
struct mechd_observer mechd_stream_observer(struct mechd_zmq *z);

/* On the door's thread: a subscription message of the XPUB socket, from the connection of that
 * descriptor (negative: from one that has ended). */
void mechd_stream_subscription(struct mechd_zmq *z, const char *bytes, size_t size, int descriptor);
