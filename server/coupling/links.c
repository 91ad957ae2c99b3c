/* What connects the participants of a coupling: outputs that drive inputs, and bonds. */
#include "server/coupling/reading.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/engine/units.h"
#include "server/instance/durable.h"
#include "server/instance/host.h"
#include "solver/base/err.h"
#include "solver/base/name.h"
#include "solver/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 64 };

/* --- ends ------------------------------------------------------------------------------------- */

/* The name does not begin with that of a participant: with which it was probably meant to. */
static void no_participant(const struct mechd_reading *r, const char *name, const char *path)
{
    char head[MECH_NAME_MAX + 1];
    struct mech_guess g;
    snprintf(head, sizeof head, "%.*s", (int)strcspn(name, "."), name);
    if (mechd_reading_part(r, name) >= 0) {
        mechd_reading_fault(r, path, "'%.64s' is a participant: \"%.64s.VARIABLE\" is needed", name,
                            name);
        return;
    }
    mechd_reading_fault(r, path, "'%.100s' does not begin with a participant%s", name,
                        mechd_reading_hint(r, &g, head));
}

/* The participant and its variable that "left.tip" means. Names may have points: of all
 * participants that the text begins with, the one that has the variable; two are a fault. */
bool mechd_end_find(const struct mechd_reading *r, const char *name, enum mech_causality causality,
                    const char *path, int32_t *part, int32_t *index)
{
    const struct mechd_coupling *const g = r->g;
    int32_t longest = -1, found = 0;
    size_t most = 0;
    bool unknown = r->lost;
    for (int32_t n = 0; n < g->count; n++) {
        const size_t size = strlen(g->parts[n].name);
        if (strncmp(g->parts[n].name, name, size) != 0 || name[size] != '.') {
            continue;
        }
        if (g->parts[n].instance == NULL) {
            unknown = true;
            continue;
        }
        const int32_t k =
            mechd_engine_variable_find(&g->parts[n].instance->engine, causality, name + size + 1);
        if (k >= 0) {
            *part = n;
            *index = k;
            found++;
        }
        longest = size >= most ? n : longest;
        most = size >= most ? size : most;
    }
    if (found == 0 && unknown) {
        return false; // its participant has a fault of its own
    }
    if (longest < 0) {
        no_participant(r, name, path);
    } else if (found == 0) {
        mechd_engine_lacks(&g->parts[longest].instance->engine, causality, name + most + 1, path,
                           r->diag);
    } else if (found > 1) {
        mechd_reading_fault(r, path, "'%.100s' is a variable of %d participants", name, found);
    }
    return found == 1;
}

/* Whether a participant has a variable of this very name. */
static bool is_known(const struct mechd_reading *r, const char *name, enum mech_causality causality)
{
    const struct mechd_coupling *const g = r->g;
    for (int32_t n = 0; n < g->count; n++) {
        const size_t size = strlen(g->parts[n].name);
        if (g->parts[n].instance != NULL && strncmp(g->parts[n].name, name, size) == 0 &&
            name[size] == '.' &&
            mechd_engine_variable_find(&g->parts[n].instance->engine, causality, name + size + 1) >=
                0) {
            return true;
        }
    }
    return false;
}

/* All of a variable. False: a fault at the path. */
static bool read_whole(const struct mechd_reading *r, const char *name,
                       enum mech_causality causality, const char *path, struct mech_variable *v,
                       struct mechd_end *out)
{
    int32_t part = -1, index = -1;
    if (!mechd_end_find(r, name, causality, path, &part, &index)) {
        return false;
    }
    mechd_engine_variable(&r->g->parts[part].instance->engine, causality, (size_t)index, v);
    *out = (struct mechd_end){part, index, -1};
    return true;
}

/* "[2]". False: a fault at the path. */
static bool read_component(const struct mechd_reading *r, const char *bracket, const char *path,
                           int *out)
{
    int used = 0;
    if (bracket[1] < '0' || bracket[1] > '9' || sscanf(bracket, "[%9d]%n", out, &used) != 1 ||
        used == 0 || bracket[used] != '\0') {
        mechd_reading_fault(r, path, "'%.64s' is not a component: [0], [1], …", bracket);
        return false;
    }
    return true;
}

/* "left.tip", or a component of it, "left.tip[2]". False: a fault at the path. */
static bool read_end(struct mechd_reading *r, const char *text, enum mech_causality causality,
                     const char *path, struct mech_variable *v, struct mechd_end *out)
{
    const char *const bracket = text != NULL ? strchr(text, '[') : NULL;
    int component = -1;
    if (text == NULL) {
        mechd_reading_fault(r, path, "\"participant.variable\" is needed");
        return false;
    }
    // names of variables may have brackets: that of an element of an array in FMI 2.0
    if (bracket == NULL || is_known(r, text, causality)) {
        return read_whole(r, text, causality, path, v, out);
    }
    if (!read_component(r, bracket, path, &component)) {
        return false;
    }
    char *const name = strndup(text, (size_t)(bracket - text));
    if (name == NULL) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the connections");
        return false;
    }
    bool good = read_whole(r, name, causality, path, v, out);
    if (good && component >= v->size) {
        mechd_reading_fault(r, path, "%.64s has %d components", name, v->size);
        good = false;
    }
    out->component = component;
    free(name);
    return good;
}

/* Both ends agree. False: a fault at the path. */
static bool agree(const struct mechd_reading *r, const char *path, const char *const text[2],
                  const struct mech_variable v[2], const struct mechd_end at[2])
{
    const int32_t size[2] = {at[0].component < 0 ? v[0].size : 1,
                             at[1].component < 0 ? v[1].size : 1};
    if (size[0] != size[1]) {
        mechd_reading_fault(r, path, "%.64s has %d values, %.64s has %d", text[0], size[0], text[1],
                            size[1]);
    }
    return size[0] == size[1];
}

/* The unit of a variable, or of one value of it: the first three of a wrench are forces. */
static struct mechd_unit unit_of(const struct mechd_reading *r, const struct mech_variable *v,
                                 const struct mechd_end *at)
{
    const bool both = at->component >= 0 && strcmp(v->unit, "N, N m") == 0;
    const char *const text = !both ? v->unit : at->component < 3 ? "N" : "N m";
    return mechd_unit_of(&r->g->parts[at->part].instance->engine, v, text);
}

/* Both have one unit, or one has none. False: a fault at the path. */
static bool fit(const struct mechd_reading *r, const char *path, const char *const text[2],
                const struct mech_variable v[2], const struct mechd_end at[2])
{
    const struct mechd_unit from = unit_of(r, &v[0], &at[0]), to = unit_of(r, &v[1], &at[1]);
    static const char *const reasons[] = {
        [MECHD_UNITS_APART] = "one is a difference (relativeQuantity), the other one is not",
        [MECHD_UNITS_OTHER] = "these units measure different quantities",
        [MECHD_UNITS_UNKNOWN] = "the conversion of these units is not known"};
    char which[96];
    double factor, offset;
    const enum mechd_units match = mechd_units_match(&from, &to, &factor, &offset);
    if (match >= MECHD_UNITS_APART) {
        mech_text_format(which, sizeof which, "%s: a factor is needed", reasons[match]);
    } else if (offset == 0.) {
        mech_text_format(which, sizeof which, "a factor of %.15g is needed", factor);
    } else {
        mech_text_format(which, sizeof which, "a factor of %.15g and an offset of %.15g are needed",
                         factor, offset);
    }
    if (match != MECHD_UNITS_SAME) {
        mechd_reading_fault(r, path, "%.64s is in %.40s, %.64s in %.40s: %s", text[0], from.text,
                            text[1], to.text, which);
    }
    return match == MECHD_UNITS_SAME;
}

/* "left.x -> right.other", "left.p -> right.F[2]"; freed by the caller. NULL: no memory. */
static char *label_of(const char *const text[2], int32_t size, int32_t k)
{
    const size_t length = strlen(text[0]) + strlen(text[1]) + sizeof " -> [2147483647]";
    char *const label = malloc(length);
    if (label != NULL) {
        snprintf(label, length, size > 1 ? "%s -> %s[%d]" : "%s -> %s", text[0], text[1], (int)k);
    }
    return label;
}

/* `label` is freed with the coupling. False: a fault, and it is still the caller's. */
static bool add_link(struct mechd_reading *r, struct mechd_end from, struct mechd_end to,
                     double factor, double offset, char *label)
{
    struct mechd_coupling *const g = r->g;
    if (r->count >= MECHD_COUPLING_CONNECTIONS) {
        mechd_reading_fault(r, "/connections", "at most %d values are connected",
                            MECHD_COUPLING_CONNECTIONS);
        return false;
    }
    g->connections[r->count] = label;
    r->links[r->count++] = (struct mechd_connection){from, to, factor, offset};
    g->connection_count = r->count;
    return true;
}

/* One connection: as many links as values. */
static void read_connection(struct mechd_reading *r, const json_t *item, const char *path)
{
    const struct mechp_json_in part = {item, path, r->diag};
    struct mechp_body_coupling_connection in;
    struct mech_variable v[2];
    struct mechd_end at[2];
    mechp_shape_only(item, path, &mechp_body_coupling_connection, r->diag);
    MECHP_READ_IN(coupling_connection, &part, &in);
    const char *const text[2] = {json_string_value(in.from), json_string_value(in.to)};
    const bool given = !isnan(in.factor);
    const double factor = mechd_reading_or(in.factor, 1.);
    const double offset = mechd_reading_or(in.offset, 0.);
    const bool from_known = read_end(r, text[0], MECH_OUTPUT_VARIABLE, path, &v[0], &at[0]);
    const bool to_known = read_end(r, text[1], MECH_INPUT, path, &v[1], &at[1]);
    if (!from_known || !to_known || !agree(r, path, text, v, at)) {
        return;
    }
    if (!given && !fit(r, path, text, v, at)) {
        return;
    }
    const int32_t size = at[0].component < 0 ? v[0].size : 1;
    for (int32_t k = 0; k < size; k++) {
        struct mechd_end from = at[0], to = at[1];
        from.component = from.component < 0 ? k : from.component;
        to.component = to.component < 0 ? k : to.component;
        char *const label = label_of(text, size, k);
        if (label == NULL) {
            mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the connections");
            return;
        }
        if (!add_link(r, from, to, factor, offset, label)) {
            free(label);
            return;
        }
    }
}

void mechd_read_connections(struct mechd_reading *r)
{
    const json_t *const list = r->in.connections.of;
    r->links = calloc(MECHD_COUPLING_CONNECTIONS, sizeof *r->links);
    r->g->connections = calloc(MECHD_COUPLING_CONNECTIONS, sizeof *r->g->connections);
    if (r->links == NULL || r->g->connections == NULL) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the connections");
        return;
    }
    for (size_t k = 0; k < json_array_size(list); k++) {
        char path[PATH];
        snprintf(path, sizeof path, "/connections/%zu", k);
        read_connection(r, json_array_get(list, k), path);
    }
    // what is kept is what there is
    char **const fitting =
        realloc(r->g->connections, ((size_t)r->count + 1) * sizeof *r->g->connections);
    r->g->connections = fitting != NULL ? fitting : r->g->connections;
}

/* --- bonds ------------------------------------------------------------------------------------ */

static void read_law(const struct mechd_reading *r, const json_t *law, const char *path,
                     struct mech_couple_bond *b)
{
    const char *const text = json_string_value(law);
    const bool rigid = text != NULL && strcmp(text, "rigid") == 0;
    if (!rigid && !json_is_object(law)) {
        mechd_reading_fault(r, path,
                            "the law must be \"rigid\", {\"stiffness\", \"damping\"} or "
                            "{\"delay\", \"impedance\"}");
        return;
    }
    const struct mechp_json_in part = {law, path, r->diag};
    struct mechp_body_bond_law in;
    MECHP_READ_IN(bond_law, &part, &in);
    b->law = rigid ? MECH_COUPLE_RIGID : isnan(in.delay) ? MECH_COUPLE_SPRING : MECH_COUPLE_LINE;
    b->stiffness = mechd_reading_or(in.stiffness, 0.);
    b->damping = mechd_reading_or(in.damping, 0.);
    b->rest = mechd_reading_or(in.rest, 0.);
    b->delay = mechd_reading_or(in.delay, 0.);
    b->impedance = mechd_reading_or(in.impedance, 0.);
    mechd_reading_must(r, b->stiffness >= 0., path, "stiffness", "must be 0 or greater");
    mechd_reading_must(r, b->damping >= 0., path, "damping", "must be 0 or greater");
    if (b->law == MECH_COUPLE_LINE) {
        mechd_reading_must(r, b->delay > 0., path, "delay", "must be greater than 0");
        mechd_reading_must(r, b->impedance > 0., path, "impedance", "must be greater than 0");
    }
    if (r->type != NULL && r->type->bonds && (r->type->laws & 1u << b->law) == 0) {
        mechd_reading_fault(r, path, "%s does not support this law", r->type->name);
    }
    mechp_shape_only(law, path, &mechp_body_bond_law, r->diag);
}

/* One end of a bond, as the faults of both name it. */
struct bond_end {
    const char *flow, *effort;
    struct mechd_unit flow_unit, effort_unit;
    enum mech_kinematic kind; /* of the flow */
    bool known;               /* all of these are */
    bool apart;               /* effort and flow are of two participants, which has been said */
};

static bool is_one_of(const char *text, size_t length, const char *const *list)
{
    while (*list != NULL && (strlen(*list) != length || strncmp(*list, text, length) != 0)) {
        list++;
    }
    return *list != NULL;
}

/* What a flow is: by its variable; where that is not known, by its unit: a length or an angle, or
 * one of them by a time; by its name where it is not known what that is. */
static enum mech_kinematic kind_of(const struct mech_variable *v, const struct mechd_unit *u)
{
    static const char *const distances[] = {"m", "mm", "cm", "km", "um", "rad", "deg", "rev", NULL};
    static const char *const rates[] = {"/s", "/ms", "/min", "/h", NULL};
    const size_t n = strcspn(v->unit, "/");
    return v->kinematic != MECH_KINEMATIC_NONE                  ? v->kinematic
           : u->known                                           ? mechd_unit_kinematic(u)
           : !is_one_of(v->unit, n, distances)                  ? MECH_KINEMATIC_NONE
           : v->unit[n] == '\0'                                 ? MECH_KINEMATIC_DISPLACEMENT
           : is_one_of(v->unit + n, strlen(v->unit + n), rates) ? MECH_KINEMATIC_VELOCITY
                                                                : MECH_KINEMATIC_NONE;
}

static struct bond_end read_bond_end(struct mechd_reading *r,
                                     const struct mechp_body_coupling_bond *in, const char *path,
                                     int32_t n, size_t side)
{
    struct mechd_connection *const l = &r->bond_links[2 * n + (int32_t)side];
    struct mech_variable v[2];
    struct bond_end e = {.flow = json_string_value(json_array_get(in->flow, side)),
                         .effort = json_string_value(json_array_get(in->effort, side))};
    const bool flow_known = read_end(r, e.flow, MECH_OUTPUT_VARIABLE, path, &v[0], &l->from);
    const bool effort_known = read_end(r, e.effort, MECH_INPUT, path, &v[1], &l->to);
    if (!flow_known || !effort_known) {
        return e;
    }
    if ((l->from.component < 0 && v[0].size != 1) || (l->to.component < 0 && v[1].size != 1)) {
        mechd_reading_fault(r, path, "a bond joins single values: name their components");
        return e;
    }
    if (l->from.part != l->to.part) {
        mechd_reading_fault(r, path,
                            "effort and flow of one end must belong to the same participant");
        e.apart = true;
        return e;
    }
    l->from.component = l->from.component < 0 ? 0 : l->from.component;
    l->to.component = l->to.component < 0 ? 0 : l->to.component;
    r->bonds[n].participant[side] = l->from.part;
    e.flow_unit = unit_of(r, &v[0], &l->from);
    e.effort_unit = unit_of(r, &v[1], &l->to);
    e.kind = kind_of(&v[0], &e.flow_unit);
    e.known = true;
    return e;
}

/* Two of a bond, which have one unit, or one of which has none. */
static void check_pair(const struct mechd_reading *r, const char *path, const char *const names[2],
                       const struct mechd_unit u[2], const char *rule)
{
    double factor, offset;
    const enum mechd_units match = mechd_units_match(&u[0], &u[1], &factor, &offset);
    const bool alike = strcmp(u[0].text, u[1].text) == 0;
    if (match != MECHD_UNITS_SAME) {
        mechd_reading_fault(r, path, "%.64s is in %.40s, %.64s in %.40s%s: %s", names[0], u[0].text,
                            names[1], u[1].text, alike ? ", a different unit of that name" : "",
                            rule);
    }
}

/* Neither end has another unit than the other one, as far as they have units. What an older version
 * has stored goes on as it was. */
static void check_units(const struct mechd_reading *r, const char *path, const struct bond_end e[2])
{
    if (r->g->keep.loading) {
        return;
    }
    if (e[0].kind == e[1].kind) {
        check_pair(r, path, (const char *const[]){e[0].flow, e[1].flow},
                   (const struct mechd_unit[]){e[0].flow_unit, e[1].flow_unit},
                   "the flows of a bond must have the same unit");
    }
    check_pair(r, path, (const char *const[]){e[0].effort, e[1].effort},
               (const struct mechd_unit[]){e[0].effort_unit, e[1].effort_unit},
               "the efforts of a bond must have the same unit");
}

/* Whether the flows are displacements or velocities: what the request says, else what they are.
 * One that has no unit is what the other one is. */
static enum mech_kinematic bond_kind(const struct mechd_reading *r, const char *given,
                                     const char *path, const struct bond_end e[2])
{
    static const char *const names[] = {
        [MECH_KINEMATIC_DISPLACEMENT] = "displacement", [MECH_KINEMATIC_VELOCITY] = "velocity"};
    const bool is_velocity = given != NULL && strcmp(given, names[MECH_KINEMATIC_VELOCITY]) == 0;
    const enum mech_kinematic said = given == NULL ? MECH_KINEMATIC_NONE
                                     : is_velocity ? MECH_KINEMATIC_VELOCITY
                                                   : MECH_KINEMATIC_DISPLACEMENT;
    mechd_reading_must(
        r, given == NULL || is_velocity || strcmp(given, names[MECH_KINEMATIC_DISPLACEMENT]) == 0,
        path, "kind", "must be \"displacement\" or \"velocity\"");
    if (e[0].kind != MECH_KINEMATIC_NONE && e[1].kind != MECH_KINEMATIC_NONE &&
        e[0].kind != e[1].kind) {
        mechd_reading_fault(r, path,
                            "one flow is a displacement and the other one a velocity: both must be "
                            "of the same kind");
        return e[0].kind;
    }
    for (size_t side = 0; side < 2; side++) {
        const bool is_known = e[side].kind != MECH_KINEMATIC_NONE;
        if (said != MECH_KINEMATIC_NONE && is_known && said != e[side].kind) {
            mechd_reading_fault(r, path, "%.64s is a %s", e[side].flow, names[e[side].kind]);
            return said;
        }
        const bool follows =
            e[side].flow_unit.text[0] == '\0' && e[1 - side].kind != MECH_KINEMATIC_NONE;
        // what an older version has stored without a kind went by displacements
        if (said == MECH_KINEMATIC_NONE && !is_known && !follows && !r->g->keep.loading) {
            mechd_reading_fault(r, path,
                                "%.64s%s%s: it is not known whether this is a displacement or a "
                                "velocity: give \"kind\" of the bond",
                                e[side].flow, e[side].flow_unit.text[0] != '\0' ? ", in " : "",
                                e[side].flow_unit.text);
            return said;
        }
    }
    return said != MECH_KINEMATIC_NONE        ? said
           : e[0].kind != MECH_KINEMATIC_NONE ? e[0].kind
                                              : e[1].kind;
}

/* One bond: two efforts, two flows. */
static void read_bond(struct mechd_reading *r, const json_t *item, const char *path, int32_t n)
{
    struct mech_couple_bond *const b = &r->bonds[n];
    char law[PATH];
    const struct mechp_json_in part = {item, path, r->diag};
    struct mechp_body_coupling_bond in;
    mechp_shape_only(item, path, &mechp_body_coupling_bond, r->diag);
    MECHP_READ_IN(coupling_bond, &part, &in);
    const char *const name = json_string_value(in.name);
    if (name != NULL) {
        snprintf(r->bond_names[n], sizeof *r->bond_names, "%.64s", name);
    } else {
        snprintf(r->bond_names[n], sizeof *r->bond_names, "bond-%d", (int)n + 1);
    }
    for (int32_t before = 0; before < n; before++) {
        if (strcmp(r->bond_names[before], r->bond_names[n]) == 0) {
            mechd_reading_fault(r, path, "there is already a bond %.64s", r->bond_names[n]);
        }
    }
    b->name = r->bond_names[n];
    snprintf(law, sizeof law, "%.40s/law", path);
    b->gap = mechd_reading_or(in.gap, 0.);
    read_law(r, in.law, law, b);
    struct bond_end ends[2] = {{.known = false}, {.known = false}};
    for (size_t side = 0; side < 2 && !ends[0].apart; side++) {
        ends[side] = read_bond_end(r, &in, path, n, side);
    }
    enum mech_kinematic kind = MECH_KINEMATIC_DISPLACEMENT;
    if (ends[0].known && ends[1].known) {
        kind = bond_kind(r, json_string_value(in.kind), path, ends);
        check_units(r, path, ends);
    }
    b->kind = kind == MECH_KINEMATIC_VELOCITY ? MECH_COUPLE_VELOCITY : MECH_COUPLE_DISPLACEMENT;
}

void mechd_read_bonds(struct mechd_reading *r)
{
    const json_t *const list = r->in.bonds.of;
    if (list == NULL) {
        return;
    }
    const size_t count = json_array_size(list);
    if (count > MECHD_COUPLING_CONNECTIONS) {
        mechd_reading_fault(r, "/bonds", "at most %d", MECHD_COUPLING_CONNECTIONS);
        return;
    }
    r->bonds = calloc(count + 1, sizeof *r->bonds);
    r->bond_links = calloc(2 * count + 1, sizeof *r->bond_links);
    r->bond_names = calloc(count + 1, sizeof *r->bond_names);
    if (r->bonds == NULL || r->bond_links == NULL || r->bond_names == NULL) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, "no memory for the bonds");
        return;
    }
    r->bond_count = (int32_t)count;
    for (size_t k = 0; k < count; k++) {
        char path[PATH];
        snprintf(path, sizeof path, "/bonds/%zu", k);
        read_bond(r, json_array_get(list, k), path, (int32_t)k);
    }
}

/* --- ports ------------------------------------------------------------------------------------ */

/* Sorted by index and component, each once. Its place: *at. */
static bool find_port(const struct mechd_coupling_port *ports, int32_t count,
                      const struct mechd_end *e, int32_t *at)
{
    int32_t k = 0;
    while (k < count && (ports[k].index < e->index ||
                         (ports[k].index == e->index && ports[k].component < e->component))) {
        k++;
    }
    *at = k;
    return k < count && ports[k].index == e->index && ports[k].component == e->component;
}

static bool add_port(struct mechd_coupling_port **ports, int32_t *count, const struct mechd_end *e)
{
    int32_t at;
    if (find_port(*ports, *count, e, &at)) {
        return true;
    }
    struct mechd_coupling_port *const more = realloc(*ports, ((size_t)*count + 1) * sizeof **ports);
    if (more == NULL) {
        return false;
    }
    memmove(more + at + 1, more + at, (size_t)(*count - at) * sizeof *more);
    more[at] = (struct mechd_coupling_port){e->index, e->component};
    *ports = more;
    ++*count;
    return true;
}

static bool add_ports(struct mechd_coupling *g, const struct mechd_connection *l)
{
    struct mechd_part *const from = &g->parts[l->from.part], *const to = &g->parts[l->to.part];
    return add_port(&from->out, &from->out_count, &l->from) &&
           add_port(&to->in, &to->in_count, &l->to);
}

bool mechd_make_ports(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    bool good = true;
    for (int32_t k = 0; k < r->count; k++) {
        good = good && add_ports(g, &r->links[k]);
    }
    for (int32_t k = 0; k < 2 * r->bond_count; k++) {
        good = good && add_ports(g, &r->bond_links[k]);
    }
    for (int32_t n = 0; n < g->count && good; n++) {
        g->parts[n].changes = calloc((size_t)g->parts[n].in_count + 1, sizeof *g->parts[n].changes);
        const size_t in = (size_t)g->parts[n].in_count;
        g->parts[n].taylor = calloc(3 * in + 1, sizeof *g->parts[n].taylor);
        g->parts[n].sums = calloc((MECH_FLOW_ORDER + 1) * in + 1, sizeof *g->parts[n].sums);
        good =
            g->parts[n].changes != NULL && g->parts[n].taylor != NULL && g->parts[n].sums != NULL;
    }
    return good;
}

int32_t mechd_port_place(const struct mechd_coupling_port *ports, int32_t count,
                         const struct mechd_end *e)
{
    int32_t at;
    (void)find_port(ports, count, e, &at);
    return at;
}
