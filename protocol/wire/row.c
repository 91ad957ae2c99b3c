/* What all rows of routes share: groups, parameters of paths, the list of shapes. */
#include "protocol/wire/row.h"

#include <stdio.h>
#include <string.h>

const struct mechp_tag mechp_tags[] = {
    {"service", "Probes, documentation, the dashboard, metrics, version and limits."},
    {"models", "Item types, example models, and validation without an instance."},
    {"instances", "Instances: each is a model with its state. Create, list, edit, delete; leases."},
    {"stepping", "Steps, trial steps, runs, live events, streams."},
    {"values", "Inputs, outputs and parameters by name, the whole state, fields of items."},
    {"snapshots", "Saved states, in memory or as bytes."},
    {"analysis",
     "Static equilibrium, eigenmodes, derivatives, evaluation of the equations of motion."},
    {"fmus", "Hosted FMUs: uploaded programs from which instances are created."},
    {"couplings", "Co-simulation: instances that exchange values and step together."},
    {"sweeps", "Parameter studies: one model run for many sets of parameters."},
    {"system", "The system descriptor: the matrix [H -CqT; Cq E] of the equations of a step at the "
               "current state, its parts, and products with it."},
    {"view", "Geometry and contacts for viewers."},
    {NULL, NULL},
};

/* --- parameters of paths ---------------------------------------------------------------------- */

/* If a name has several meanings, the narrower one comes first. */
static const struct {
    const char *within; /* part of the paths that it is meant for; NULL: any */
    struct mechp_parameter parameter;
} parameters[] = {
    {"/examples/", {"name", "@Name", "Name of an example model.", "\"mass1d\"", 0}},
    {"/streams/", {"name", "@Name", "Name of the chosen stream.", "\"slow\"", 0}},
    {NULL,
     {"id", "@Name", "Id of the instance, chosen by the server or the client.", "\"rig\"", 0}},
    {NULL, {"name", "@Name", "Name of the item in the model.", "\"body\"", 0}},
    {NULL,
     {"field", "@Name", "Name of a field of the item, as listed by GET /v1/types.",
      "\"physicsMass\"", 0}},
    {NULL,
     {"variable", "@Name", "An output variable of the item, as listed by GET /v1/types.",
      "\"Position\"", 0}},
    {NULL, {"rid", "@Name", "Id of the run.", "\"r-1\"", 0}},
    {NULL, {"sid", "@Name", "Id of the snapshot.", "\"s-1\"", 0}},
    {NULL, {"tid", "@Name", "Name under which the trial is kept.", "\"best\"", 0}},
    {NULL,
     {"oid", "@Name",
      "Id of the operation, as `o-1`; of a server without a state directory as `o-k3f9xm-1`.",
      "\"o-1\"", 0}},
    {NULL,
     {"cid", "@Name",
      "Id of the coupling, as `c-1`; of a server without a state directory as `c-k3f9xm-1`.",
      "\"c-1\"", 0}},
    {NULL,
     {"fid", "@Name",
      "Id of the uploaded FMU, as `f-1`; of a server without a state directory as `f-k3f9xm-1`.",
      "\"f-1\"", 0}},
    {NULL,
     {"wid", "@Name",
      "Id of the sweep, as `w-1`; of a server without a state directory as `w-k3f9xm-1`.",
      "\"w-1\"", 0}},
    {NULL,
     {"what", "@Name",
      "A matrix or vector of the descriptor: H, M, K, C, Cq, E, R, f, b, d, diagonal or Z.",
      "\"H\"", 0}},
    {NULL,
     {"type", "@Name", "Name of an item type, structure, integrator or solver.", "\"Mass1D\"", 0}},
};

const struct mechp_parameter *mechp_path_parameter(const char *name, size_t length,
                                                   const char *path)
{
    for (size_t k = 0; k < sizeof parameters / sizeof *parameters; k++) {
        const struct mechp_parameter *const p = &parameters[k].parameter;
        if (strlen(p->name) == length && memcmp(p->name, name, length) == 0 &&
            (parameters[k].within == NULL || strstr(path, parameters[k].within) != NULL)) {
            return p;
        }
    }
    return NULL;
}

int mechp_query_count(const struct mechp_row *row)
{
    int n = 0;
    while (row->query != NULL && row->query[n].name != NULL) {
        n++;
    }
    return n;
}

const char *mechp_key_type(const struct mechp_row *row, const char *name)
{
    const struct mechp_member *m = row->body != NULL ? row->body->members : NULL;
    while (m != NULL && m->name != NULL && strcmp(m->name, name) != 0) {
        m++;
    }
    if (m != NULL && m->name != NULL) {
        return m->type;
    }
    for (int k = 0; k < mechp_query_count(row); k++) {
        if (strcmp(row->query[k].name, name) == 0) {
            return row->query[k].type;
        }
    }
    return NULL;
}

/* --- words of a type -------------------------------------------------------------------------- */

const char *mechp_type_next(const char *at, size_t *length)
{
    at = strchr(at, '\'');
    *length = at != NULL ? strcspn(at + 1, "'") : 0;
    return at != NULL ? at + 1 : NULL;
}

int mechp_type_word(const char *type, const char *word)
{
    size_t n = 0;
    int k = 0;
    for (const char *at = mechp_type_next(type, &n); at != NULL;
         at = mechp_type_next(at + n + 1, &n)) {
        if (strlen(word) == n && memcmp(at, word, n) == 0) {
            return k;
        }
        k++;
    }
    return -1;
}

const char *mechp_type_words(const char *type, char *out, size_t size)
{
    size_t n = 0, used = 0;
    const char *joint = "";
    out[0] = '\0';
    for (const char *at = mechp_type_next(type, &n); at != NULL && used < size;) {
        size_t behind = 0;
        const char *const next = mechp_type_next(at + n + 1, &behind);
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", joint, (int)n, at);
        joint = next != NULL && mechp_type_next(next + behind + 1, &n) == NULL ? " or " : ", ";
        at = next;
        n = behind;
    }
    return out;
}

/* --- shapes ----------------------------------------------------------------------------------- */

const struct mechp_shape mechp_empty = {
    .members = (const struct mechp_member[]){{NULL, NULL, NULL, 0}}, .request = true};

#define MECHP_GROUP(name) extern const struct mechp_shape *const mechp_shapes_##name[];
#include "protocol/wire/routes/groups.def"
#undef MECHP_GROUP

#define MECHP_GROUP(name) mechp_shapes_##name,
static const struct mechp_shape *const *const groups[] = {
#include "protocol/wire/routes/groups.def"
};
#undef MECHP_GROUP

const struct mechp_shape *mechp_shape_at(int i)
{
    for (size_t g = 0; g < sizeof groups / sizeof *groups && i >= 0; g++) {
        for (const struct mechp_shape *const *at = groups[g]; *at != NULL; at++) {
            if (i-- == 0) {
                return *at;
            }
        }
    }
    return NULL;
}

const struct mechp_shape *mechp_shape_named(const char *type)
{
    const size_t length = type != NULL && type[0] == '@' ? strcspn(type + 1, "|[{") : 0;
    const struct mechp_shape *s = NULL;
    for (int i = 0; length > 0 && (s = mechp_shape_at(i)) != NULL; i++) {
        if (strlen(s->name) == length && strncmp(s->name, type + 1, length) == 0) {
            return s;
        }
    }
    return NULL;
}

void mechp_shape_only(const json_t *object, const char *base, const struct mechp_shape *shape,
                      struct mech_diag *d)
{
    const char *allowed[MECHP_MEMBERS_MOST + 1] = {NULL};
    for (int k = 0; k < MECHP_MEMBERS_MOST && shape->members[k].name != NULL; k++) {
        allowed[k] = shape->members[k].name;
    }
    mechp_json_only(object, base, allowed, d);
}
