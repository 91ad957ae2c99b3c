/* System structure packages: POST /v1/couplings with one, GET /v1/couplings/{cid}/ssp. */
#pragma once

#include "server/coupling/coupling.h"

/* For mechd_operation.spread: the package in the bytes of the call becomes FMUs, instances and
 * their coupling, which is the reply; or nothing is left of any of them. */
enum mechd_submitted mechd_ssp_couple(struct mechd_call *c);

/* `once` of a command: the coupling as a package, which is sent in pieces; or a refusal. */
void mechd_ssp_write(struct mechd_coupling_command *k);
