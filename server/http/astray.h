/* Requests whose method and path have no route: the refusal says what was probably meant. Internal
 * to server/http. */
#pragma once

#include "server/call/call.h"

/* Refuse the call by the code of mechp_route_match, whose `allow` it has. 1. */
int mechd_astray_refuse(struct mechd_call *c, const char *method, const char *path, int code);
