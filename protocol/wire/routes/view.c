/* What a viewer draws. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/queries.h"
#include "protocol/wire/row.h"

/* --- bodies --- */

const struct mechp_shape mechp_body_contact = {
    .name = "Contact",
    .doc = "One point at which the shapes of two bodies touch.",
    .members = MECHP_MEMBERS(
        {"bodies", "@Name[]", "the two objects", MECHP_IN(contact, bodies)},
        {"shapes", "string|integer[]", "their shapes: names, or indices in geometry",
         MECHP_IN(contact, shapes)},
        {"point", "number[]", "m, halfway between the surfaces", MECHP_IN(contact, point)},
        {"normal", "number[]", "from the first to the second", MECHP_IN(contact, normal)},
        {"gap", "number", "m, at the time of contact detection in the step; below 0: overlap",
         MECHP_IN(contact, gap)},
        {"normalForce", "number", "N, mean of the step", MECHP_IN(contact, normal_force)},
        {"force", "number[]", "N, on the second body, mean of the step", MECHP_IN(contact, force)},
        {"impulse", "number[]", "N s, of the step", MECHP_IN(contact, impulse)},
        {"couple", "number[]", "N m s, against rolling and spinning", MECHP_IN(contact, couple)})};

const struct mechp_shape mechp_body_contact_list = {
    .name = "ContactList",
    .doc = "Contacts between shapes in the last internal step.",
    .members =
        MECHP_MEMBERS({"time", "number", "s", MECHP_IN(contact_list, time)},
                      {"items", "@Contact[]", "in a fixed order", MECHP_IN(contact_list, items)},
                      {"next", "null", "always null: there are no further pages", true})};

const struct mechp_shape mechp_body_scene = {
    .name = "Scene",
    .doc = "Bodies with their shapes and frames.",
    .members = MECHP_MEMBERS(
        {"time", "number", "s", MECHP_IN(scene, time)},
        {"contacts", "integer", "contacts of the last step, if the model has contacts",
         MECHP_MAY(scene, contacts)},
        {"bodies", "object[]", "the shapes that are drawn", MECHP_IN(scene, bodies)},
        {"systems", "object[]", "items without a position in space", MECHP_IN(scene, systems)})};

const struct mechp_shape *const mechp_shapes_view[] = {
    &mechp_body_contact, &mechp_body_contact_list, &mechp_body_scene, NULL};

/* --- routes --- */

const struct mechp_row mechp_row_CONTACTS = {
    .tag = "view",
    .doc = "Contact points of the last internal step, with forces and impulses.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_BY_SIZE,
    .traits = MECHP_OF_MODEL,
    .status = 200,
    .reply = "@ContactList",
    .content = MECHP_JSON};

const struct mechp_row mechp_row_FMU = {
    .tag = "instances",
    .doc =
        "The model as an FMU for co-simulation (FMI 2.0 or 3.0): with the solver, which needs no "
        "server, or one that connects to the lane of a server, whose address, token and instance "
        "are parameters of it; a token is not stored in the file. Both give the same results. It "
        "starts from the model document as it is now, "
        "not from the state of the instance. The same model gives the same bytes; their ETag is "
        "that of the file.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL,
    .query = MECHP_QUERY(
        {"version", "integer 2..3", "Version of FMI (default 3).", "2", MECHP_ASKED(fmu, version)},
        {"kind", "'standalone'|'proxy'",
         "standalone: it holds the solver (default); proxy: it connects to a "
         "server, by default to the lane of this one.",
         "\"proxy\"", MECHP_ASKED(fmu, kind)}),
    .status = 200,
    .content = "application/vnd.fmi",
    .codes = MECHP_CODES(MECHP_INVALID_REQUEST, MECHP_INVALID_MODEL, MECHP_NOT_INSTALLED)};

const struct mechp_row mechp_row_SCENE = {
    .tag = "view",
    .doc = "Bodies with their shapes, positions and colours at the current time.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_BY_SIZE,
    .traits = MECHP_OF_MODEL,
    .status = 200,
    .reply = "@Scene",
    .content = MECHP_JSON,
    .codes = MECHP_CODES(MECHP_NOT_FINITE)};
