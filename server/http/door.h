/* The callbacks that libmicrohttpd is given. Internal to server/http. */
#pragma once

#include <microhttpd.h>

enum MHD_Result mechd_door_handle(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state);
void mechd_door_completed(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_RequestTerminationCode why);
