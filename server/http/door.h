/* The callbacks for libmicrohttpd; each gets the listener. Internal to server/http. */
#pragma once

#include <microhttpd.h>

/* Whether a connection is accepted. */
enum MHD_Result mechd_door_accept(void *context, const struct sockaddr *address,
                                  socklen_t address_size);
/* A connection has begun, or is over. */
void mechd_door_connected(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code);
/* A request line has arrived: the exchange begins. */
void *mechd_door_target(void *context, const char *target, struct MHD_Connection *connection);
/* Decode a key or value of the query in place; the path is unchanged. */
size_t mechd_door_unescape(void *context, struct MHD_Connection *connection, char *text);
/* The head, part of the body, or the whole request has arrived. */
enum MHD_Result mechd_door_handle(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state);
/* An answer is complete, or will never be. */
void mechd_door_completed(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_RequestTerminationCode why);
