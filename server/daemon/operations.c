#include "server/daemon/operations.h"

#include "server/call/call.h"

#define MECHP_ROUTE(symbol, method, path, operation, summary)                                      \
    extern const struct mechd_operation mechd_operation_##symbol;
#include "protocol/wire/routes.def"
#undef MECHP_ROUTE

#define MECHP_ROUTE(symbol, method, path, operation, summary) &mechd_operation_##symbol,
const struct mechd_operation *const mechd_operations[] = {
#include "protocol/wire/routes.def"
};
#undef MECHP_ROUTE
