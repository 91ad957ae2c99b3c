/* The stream: one frame per committed communication step, encoded only for topics that somebody
 * subscribes to ("state/{id}/" binary, "json/{id}/" text). */
#pragma once

#include "server/instance/instance.h"

struct mechd_zmq;

/* As owner of the instance: encode for the topics watched and leave the frames in the outbox. */
void mechd_stream_publish(struct mechd_instance *i, const struct mechd_published *step);

/* A new instance: find out whether its topics are watched already. */
void mechd_stream_meet(struct mechd_instance *i);

/* On the door's thread: a subscription message of the XPUB socket, from the connection of that
 * descriptor (negative: from one that has ended). */
void mechd_stream_subscription(struct mechd_zmq *z, const char *bytes, size_t size, int descriptor);
