/* What a viewer draws. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_view.h"
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
        {"normal", "number[]", "unit vector from the first body to the second",
         MECHP_IN(contact, normal)},
        {"gap", "number", "m, at the time of contact detection in the step; below 0: overlap",
         MECHP_IN(contact, gap)},
        {"normalForce", "number", "N, mean over the step", MECHP_IN(contact, normal_force)},
        {"force", "number[]", "N, on the second body, mean over the step",
         MECHP_IN(contact, force)},
        {"impulse", "number[]", "N s, on the second body, over the step",
         MECHP_IN(contact, impulse)},
        {"couple", "number[]",
         "N m s, angular impulse on the second body against rolling and spinning",
         MECHP_IN(contact, couple)})};

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
        {"bodies", "@SceneBody[]", "the bodies that are drawn", MECHP_IN(scene, bodies)},
        {"systems", "@SceneSystem[]", "items without a position in space",
         MECHP_IN(scene, systems)})};

const struct mechp_shape mechp_body_scene_body = {
    .name = "SceneBody",
    .doc = "A body with its frame.",
    .members = MECHP_MEMBERS(
        {"name", "@Name", "name of the object", MECHP_IN(scene_body, name)},
        {"type", "string", "its type", MECHP_IN(scene_body, type)},
        {"position", "number[]", "m", MECHP_MAY(scene_body, position)},
        {"rotation", "number[]", "matrix by rows, from the body to the world",
         MECHP_MAY(scene_body, rotation)},
        {"reference", "number[]", "position in the reference configuration, m",
         MECHP_MAY(scene_body, reference)},
        {"line", "number[][]", "points along the axis of a body that is a line, m",
         MECHP_MAY(scene_body, line)},
        {"fixed", "boolean", "it has no node", MECHP_IN(scene_body, fixed)},
        {"color", "number[]", "red, green, blue, opacity, 0 to 1", MECHP_IN(scene_body, color)},
        {"graphics", "@SceneGraphic[]", "in the frame of the body",
         MECHP_IN(scene_body, graphics)})};

const struct mechp_shape mechp_body_scene_graphic = {
    .name = "SceneGraphic",
    .doc = "A shape in the frame of its body.",
    .members = MECHP_MEMBERS(
        {"shape", "string", "type of the graphic; Plane, Mesh", MECHP_IN(scene_graphic, shape)},
        {"center", "number[]", "m", MECHP_IN(scene_graphic, center)},
        {"size", "number[]", "lengths of the edges of a box, or the axis of a cylinder, m",
         MECHP_MAY(scene_graphic, size)},
        {"radius", "number", "m", MECHP_MAY(scene_graphic, radius)},
        {"color", "number[]", "as for the body", MECHP_IN(scene_graphic, color)},
        {"normal", "number[]", "normal of a plane", MECHP_MAY(scene_graphic, normal)},
        {"points", "number[][]", "points of a mesh, m", MECHP_MAY(scene_graphic, points)},
        {"triangles", "integer[][]", "triangles of a mesh: indices of three points each",
         MECHP_MAY(scene_graphic, triangles)})};

const struct mechp_shape mechp_body_scene_system = {
    .name = "SceneSystem",
    .doc = "An item without a position in space.",
    .members =
        MECHP_MEMBERS({"name", "@Name", "name of the object", MECHP_IN(scene_system, name)},
                      {"type", "string", "its type", MECHP_IN(scene_system, type)},
                      {"coordinates", "number[]", "total coordinates: reference plus displacements",
                       MECHP_IN(scene_system, coordinates)})};

const struct mechp_shape *const mechp_shapes_view[] = {&mechp_body_contact,
                                                       &mechp_body_contact_list,
                                                       &mechp_body_scene,
                                                       &mechp_body_scene_body,
                                                       &mechp_body_scene_graphic,
                                                       &mechp_body_scene_system,
                                                       NULL};

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
    .doc = "The model as an FMU for co-simulation (FMI 2.0 or 3.0): standalone, with the solver in "
           "it, or a proxy, which connects to the lane of a server. Address, token and instance "
           "are parameters of the proxy, and no token is stored in the file. Both give the same "
           "results. They start from the model document as it is now, not from the state of the "
           "instance. The same model gives the same bytes; the ETag is that of the file.",
    .effect = MECHP_READS,
    .cost = MECHP_COST_UNKNOWN,
    .traits = MECHP_OF_MODEL,
    .query = MECHP_QUERY(
        {"version", "integer 2..3", "Version of FMI (default 3).", "2", MECHP_ASKED(fmu, version)},
        {"kind", "'standalone'|'proxy'",
         "standalone: it contains the solver (default); proxy: it connects to a server, by default "
         "to the lane of this one.",
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
