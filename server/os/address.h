/* Addresses as the configuration writes them: [http:// or https://]host:port, unix:PATH, and
 * ZeroMQ's endpoints. */
#pragma once

#include <stdbool.h>

enum { MECHD_ADDRESS = 256 };

/* True for https://… */
bool mechd_address_is_tls(const char *address);
/* The address of HTTP without its scheme: host:port. */
const char *mechd_address_host(const char *address);
/* True for an address that only this machine reaches: 127.…, [::1], localhost, unix:, ipc://. */
bool mechd_address_is_local(const char *address);
