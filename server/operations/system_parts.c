/* GET …/system/blocks and …/system/{what}: blocks, matrices and vectors of a descriptor. */
#include "protocol/wire/bodies_system.h"
#include "server/operations/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most numbers in one answer: 16 million, 128 MiB before they are written. */
static const size_t answer_most = 16u << 20;
/* A matrix of at most so many places is written by rows. */
static const int64_t rows_most = 4096;

/* --- GET …/system/blocks ---------------------------------------------------------------------- */

/* In w or l; null: frozen, or not active. */
static int64_t offset_of(int32_t offset)
{
    return offset < 0 ? INT64_MIN : offset;
}

static void write_variables(struct mechp_text *w, const struct mech_sim_system *s, int32_t i)
{
    const char *name = NULL;
    int32_t offset = -1;
    const struct mech_system_variables *const v = mech_sim_system_variables(s, i, &name, &offset);
    const struct mechp_body_system_variables body = {.name = name,
                                                     .mass = mech_sim_system_mass_name(v),
                                                     .mass_number = v->mass,
                                                     .first = v->first,
                                                     .dof = v->n,
                                                     .offset = offset_of(offset),
                                                     .active = offset >= 0};
    MECHP_WRITE(system_variables, &body, w);
}

static void write_flags(const void *of, struct mechp_text *w)
{
    const uint32_t flags = *(const uint32_t *)of;
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{MECH_CONSTRAINT_INVALID, "invalid"},
                 {MECH_CONSTRAINT_DISABLED, "disabled"},
                 {MECH_CONSTRAINT_REDUNDANT, "redundant"},
                 {MECH_CONSTRAINT_BROKEN, "broken"},
                 {MECH_CONSTRAINT_FREE, "free"}};
    mechp_text_array(w);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if ((flags & names[k].flag) != 0) {
            mechp_text_string(w, names[k].name);
        }
    }
    mechp_text_end(w);
}

static void write_constraint(struct mechp_text *w, const struct mech_sim_system *s, int32_t i)
{
    static const char *const kinds[] = {[MECH_SET_BILATERAL] = "bilateral",
                                        [MECH_SET_UNILATERAL] = "unilateral",
                                        [MECH_SET_BOX] = "box",
                                        [MECH_SET_CONE] = "cone",
                                        [MECH_SET_ROLLING] = "rolling"};
    static const char *const sources[] = {[MECH_SOURCE_JOINT] = "joint",
                                          [MECH_SOURCE_INTERACTION] = "interaction",
                                          [MECH_SOURCE_CONTACT] = "contact"};
    const char *name = NULL;
    int32_t offset = -1;
    const struct mech_system_constraint *const c = mech_sim_system_constraint(s, i, &name, &offset);
    const struct mech_set *const set = &c->set;
    const bool box = set->kind == MECH_SET_BOX, rolls = set->kind == MECH_SET_ROLLING;
    const bool cone = set->kind == MECH_SET_CONE || rolls;
    const struct mechp_body_system_constraint body = {.name = name,
                                                      .source = sources[c->source],
                                                      .with = mech_sim_system_other(s, i),
                                                      .row = c->row,
                                                      .kind = kinds[set->kind],
                                                      .rows = set->rows,
                                                      .lower = box ? set->lower : (double)NAN,
                                                      .upper = box ? set->upper : (double)NAN,
                                                      .mu = cone ? set->mu : (double)NAN,
                                                      .spinning =
                                                          rolls ? set->spinning : (double)NAN,
                                                      .rolling = rolls ? set->rolling : (double)NAN,
                                                      .offset = offset_of(offset),
                                                      .active = offset >= 0,
                                                      .flags = {write_flags, &c->flags},
                                                      .mirrored = c->mirrored,
                                                      .position = c->position,
                                                      .cfm = c->cfm};
    MECHP_WRITE(system_constraint, &body, w);
}

static void write_coupled(const void *block, struct mechp_text *w)
{
    const struct mech_system_block *const b = block;
    mechp_text_array(w);
    mechp_text_integer(w, b->a);
    if (b->b != b->a) {
        mechp_text_integer(w, b->b);
    }
    mechp_text_end(w);
}

static void write_block(struct mechp_text *w, const struct mech_system_block *b)
{
    const struct mechp_body_system_block body = {.variables = {write_coupled, b},
                                                 .K = (int64_t)b->entries[0],
                                                 .C = (int64_t)b->entries[1],
                                                 .M = (int64_t)b->entries[2]};
    MECHP_WRITE(system_block, &body, w);
}

/* A descriptor and its sizes. */
struct described {
    const struct mech_sim_system *of;
    struct mech_sim_system_info info;
};

static void write_all_variables(const void *of, struct mechp_text *w)
{
    const struct described *const d = of;
    mechp_text_array(w);
    for (int32_t i = 0; i < d->info.size.variables; i++) {
        write_variables(w, d->of, i);
    }
    mechp_text_end(w);
}

static void write_constraints(const void *of, struct mechp_text *w)
{
    const struct described *const d = of;
    mechp_text_array(w);
    for (int32_t i = 0; i < d->info.size.constraints; i++) {
        write_constraint(w, d->of, i);
    }
    mechp_text_end(w);
}

static void write_blocks(const void *of, struct mechp_text *w)
{
    const struct described *const d = of;
    mechp_text_array(w);
    for (int32_t i = 0; i < d->info.size.blocks; i++) {
        write_block(w, mech_sim_system_block(d->of, i));
    }
    mechp_text_end(w);
}

static enum mechd_progress run_blocks(struct mechd_call *c)
{
    struct mech_sim_system *const s = mechd_system_asked(c);
    struct described d = {.of = s};
    if (s == NULL) {
        return MECHD_DONE;
    }
    mech_sim_system_info(s, &d.info);
    const struct mechp_body_system_blocks body = {.time = d.info.time,
                                                  .level = mechd_system_level(&d.info),
                                                  .variables = {write_all_variables, &d},
                                                  .constraints = {write_constraints, &d},
                                                  .blocks = {write_blocks, &d}};
    MECHP_WRITE(system_blocks, &body, &c->text);
    mech_sim_system_destroy(s);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SYSTEM_BLOCKS = {.run = run_blocks};

/* --- GET …/system/{what} ---------------------------------------------------------------------- */

static void fill(const struct mech_triplet *t, size_t count, double *values, int32_t cols)
{
    for (size_t k = 0; k < count; k++) {
        values[t[k].row * cols + t[k].col] = t[k].value;
    }
}

static void fail_matrix(struct mechd_call *c, int outcome)
{
    if (outcome == MECH_SINGULAR) {
        mechd_fail(c, MECHP_SINGULAR, "H is singular");
    } else if (outcome == MECH_UNSUPPORTED) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "the matrix has too many columns that need H");
    } else {
        mechd_fail_outcome(c, outcome);
    }
}

/* The values of a part, as JSON. */
static void write_values(struct mechd_call *c, struct mech_sim_system *s, int part)
{
    struct mech_sim_system_info info;
    struct mech_triplet *t = NULL;
    struct mech_arena arena;
    int32_t shape[2];
    size_t count = 0;
    mech_sim_system_info(s, &info);
    mech_sim_system_size(s, part, &shape[0], &shape[1]);
    const bool vector = mech_system_part(part)->vector;
    const bool dense = !vector && (int64_t)shape[0] * shape[1] <= rows_most;
    const size_t room = vector  ? (size_t)info.size.velocities + (size_t)info.size.rows
                        : dense ? (size_t)rows_most
                                : 0;
    double *const values = mechd_doubles(c, room);
    mech_arena_init(&arena, 0);
    int outcome = values == NULL ? MECH_NO_MEMORY : 0;
    if (outcome == 0 && !vector) {
        outcome = mech_sim_system_entries(s, part, &arena, &t, &count);
    }
    if (outcome != 0) {
        fail_matrix(c, outcome);
    } else if (3 * count > answer_most) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "%zu entries are too many for JSON; request mtx or coo1",
                   count);
    } else {
        const struct mechd_system_part one = {s, part};
        const struct mechd_matrix matrix = {values, shape[0], shape[1]};
        const struct mechd_entries entries = {t, count};
        if (vector) {
            mech_sim_system_vector(s, part, values);
        } else if (dense) {
            fill(t, count, values, shape[1]);
        }
        const struct mechp_body_system_part body = {
            .time = info.time,
            .level = mechd_system_level(&info),
            .name = mech_system_part(part)->name,
            .shape = {mechd_system_shape, &one},
            .rows = {dense ? mechd_write_matrix : NULL, &matrix},
            .coo = {vector || dense ? NULL : mechd_write_entries, &entries},
            .values = {vector ? values : NULL, (size_t)shape[0]}};
        MECHP_WRITE(system_part, &body, &c->text);
    }
    mech_arena_fini(&arena);
    free(values);
}

static enum mechd_progress run_part(struct mechd_call *c)
{
    const char *what = mechd_call_value(c, "what");
    const int part = mech_sim_system_find(what);
    if (part < 0) {
        return mechd_fail(c, MECHP_NOT_FOUND, "a system has no part \"%.32s\"", what);
    }
    const int form =
        mechd_form(c, 1u << MECHD_FORM_JSON | 1u << MECHD_FORM_MTX | 1u << MECHD_FORM_COO1);
    struct mech_sim_system *const s = form >= 0 ? mechd_system_asked(c) : NULL;
    if (s != NULL && form == MECHD_FORM_JSON) {
        write_values(c, s, part);
    } else if (s != NULL) {
        char *text = NULL;
        const int outcome = mech_sim_system_text(s, part, form == MECHD_FORM_COO1, &text);
        if (outcome != 0) {
            fail_matrix(c, outcome);
        } else {
            mechd_form_answer(c, (enum mechd_form)form, text, strlen(text));
        }
        free(text);
    }
    mech_sim_system_destroy(s);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SYSTEM_PART = {.run = run_part};
