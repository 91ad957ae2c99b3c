/* Leases: permissions to change an instance. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_lease = {
    .name = "Lease",
    .doc = "A lease on an instance.",
    .members = MECHP_MEMBERS(
        {"lease", "integer", "number for the header `Lease`; shown to the holder only",
         MECHP_MAY(lease, lease)},
        {"role", "'owner'|'co-driver'|'observer'|'partner'",
         "role; partner: a program that exchanges binary frames and connected without a role",
         MECHP_IN(lease, role)},
        {"name", "string", "name of the holder, as given or from its token", MECHP_IN(lease, name)},
        {"channels", "string[]", "inputs that this co-driver may set", MECHP_IN(lease, channels)},
        {"seconds", "number|null", "idle time after which it expires, s", MECHP_IN(lease, seconds)},
        {"expires", "string|null", "time at which it expires, UTC", MECHP_IN(lease, expires)},
        {"left", "number|null", "time that remains until then, s", MECHP_IN(lease, left)})};

static const struct mechp_shape lease_change = {
    .name = "LeaseChange",
    .doc = "The members that are given are changed; the idle time restarts in any case.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"role", "'owner'|'co-driver'|'observer'", "new role of the holder",
         MECHP_MAY(lease_request, role)},
        {"channels", "string[]", "inputs that this co-driver may set",
         MECHP_MAY(lease_request, channels)},
        {"seconds", "number", "idle time after which it expires, 0.01 to 86400 s",
         MECHP_MAY(lease_request, seconds)},
        {"name", "@Name", "name of the holder, shown to others", MECHP_MAY(lease_request, name)})};

const struct mechp_shape mechp_body_lease_list = {
    .name = "LeaseList",
    .doc = "Leases of an instance, oldest first.",
    .members =
        MECHP_MEMBERS({"items", "@Lease[]", "without their numbers", MECHP_IN(lease_list, items)})};

static const struct mechp_shape lease_request = {
    .name = "LeaseRequest",
    .doc = "A lease to take.",
    .request = true,
    .members = MECHP_MEMBERS(
        {"role", "'owner'|'co-driver'|'observer'", "role of the holder",
         MECHP_IN(lease_request, role)},
        {"channels", "string[]", "inputs that only this co-driver and the owner may set",
         MECHP_MAY(lease_request, channels)},
        {"seconds", "number", "idle time after which it expires, 0.01 to 86400 s (default 60)",
         MECHP_MAY(lease_request, seconds)},
        {"name", "@Name", "name of the holder, shown to others (default that of the token)",
         MECHP_MAY(lease_request, name)}),
    .example = "{\"role\":\"owner\",\"name\":\"rig\",\"seconds\":30}"};

const struct mechp_shape *const mechp_shapes_leases[] = {
    &mechp_body_lease, &lease_change, &mechp_body_lease_list, &lease_request, NULL};

/* --- routes --- */

const struct mechp_row mechp_row_DROP_LEASE = {
    .tag = "instances",
    .doc = "Releases the lease given in the header `Lease`. With `of`, revokes the leases "
           "that others hold in this role, which requires the scope `admin`.",
    .effect = MECHP_BESIDE,
    .traits = MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_FLEETING,
    .query =
        MECHP_QUERY({"of", "'owner'|'co-driver'|'observer'|'partner'",
                     "Role whose leases are revoked.", "\"owner\"", MECHP_ASKED(drop_lease, of)}),
    .shown = MECHP_SHOWN(.options = "-H \"Lease: $LEASE\" "),
    .status = 204,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_NOT_FOUND, MECHP_INVALID_REQUEST)};

const struct mechp_row mechp_row_LEASES = {
    .tag = "instances",
    .doc = "Roles, names, channels and times. The numbers of leases are not shown.",
    .effect = MECHP_READS,
    .status = 200,
    .reply = "@LeaseList",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_CHANGE_LEASE = {
    .tag = "instances",
    .doc = "Renews the lease given in the header `Lease`: its idle time restarts, and the changes "
           "in the body apply.",
    .effect = MECHP_BESIDE,
    .traits = MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_FLEETING,
    .body = &lease_change,
    .optional = true,
    .shown = MECHP_SHOWN(.options = "-H \"Lease: $LEASE\" "),
    .status = 200,
    .reply = "@Lease",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_IN_COUPLING)};

const struct mechp_row mechp_row_TAKE_LEASE = {
    .tag = "instances",
    .doc = "Only the `owner` may change the instance; a `co-driver` may set the inputs in its "
           "`channels`, with or without an owner; an `observer` is only listed. Send the returned "
           "number in the header `Lease` of later requests. A lease expires after `seconds` "
           "without a request of its holder; a command in progress whose client has disconnected "
           "is then cancelled.",
    .effect = MECHP_BESIDE,
    .traits = MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_FLEETING,
    .body = &lease_request,
    .shown = MECHP_SHOWN(.before = "LEASE=$(", .options = "-s ",
                         .after = " | sed 's/.*\"lease\":\\([0-9]*\\).*/\\1/')"),
    .status = 201,
    .reply = "@Lease",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_FOREIGN_LEASE, MECHP_IN_COUPLING, MECHP_LIMIT_REACHED)};
