/* GET …/system/blocks and …/system/{what}: blocks, matrices and vectors of a descriptor. */
#include "server/operations/system.h"

#include <stdlib.h>
#include <string.h>

/* Most numbers in one answer: 16 million, 128 MiB before they are written. */
static const size_t answer_most = 16u << 20;
/* A matrix of at most so many places is written by rows. */
static const int64_t rows_most = 4096;

/* --- GET …/system/blocks ---------------------------------------------------------------------- */

/* null: frozen, or not active */
static void write_offset(struct mechp_text *w, int32_t offset)
{
    mechp_text_key(w, "offset");
    if (offset < 0) {
        mechp_text_null(w);
    } else {
        mechp_text_integer(w, offset);
    }
}

static void write_variables(struct mechp_text *w, const struct mech_sim_system *s, int32_t i)
{
    const char *name = NULL;
    int32_t offset = -1;
    const struct mech_system_variables *const v = mech_sim_system_variables(s, i, &name, &offset);
    mechp_text_object(w);
    mechp_text_member_string(w, "name", name);
    mechp_text_member_string(w, "mass", mech_sim_system_mass_name(v));
    mechp_text_member_integer(w, "massNumber", v->mass);
    mechp_text_member_integer(w, "first", v->first);
    mechp_text_member_integer(w, "dof", v->n);
    write_offset(w, offset);
    mechp_text_key(w, "active");
    mechp_text_bool(w, offset >= 0);
    mechp_text_end(w);
}

static void write_flags(struct mechp_text *w, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {{MECH_CONSTRAINT_INVALID, "invalid"},
                 {MECH_CONSTRAINT_DISABLED, "disabled"},
                 {MECH_CONSTRAINT_REDUNDANT, "redundant"},
                 {MECH_CONSTRAINT_BROKEN, "broken"},
                 {MECH_CONSTRAINT_FREE, "free"}};
    mechp_text_key(w, "flags");
    mechp_text_array(w);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if ((flags & names[k].flag) != 0) {
            mechp_text_string(w, names[k].name);
        }
    }
    mechp_text_end(w);
}

static void write_set(struct mechp_text *w, const struct mech_set *set)
{
    static const char *const kinds[] = {[MECH_SET_BILATERAL] = "bilateral",
                                        [MECH_SET_UNILATERAL] = "unilateral",
                                        [MECH_SET_BOX] = "box",
                                        [MECH_SET_CONE] = "cone",
                                        [MECH_SET_ROLLING] = "rolling"};
    mechp_text_member_string(w, "kind", kinds[set->kind]);
    mechp_text_member_integer(w, "rows", set->rows);
    if (set->kind == MECH_SET_BOX) {
        mechp_text_key(w, "lower");
        mechp_text_number_or_null(w, set->lower);
        mechp_text_key(w, "upper");
        mechp_text_number_or_null(w, set->upper);
    }
    if (set->kind == MECH_SET_CONE || set->kind == MECH_SET_ROLLING) {
        mechp_text_member_number(w, "mu", set->mu);
    }
    if (set->kind == MECH_SET_ROLLING) {
        mechp_text_member_number(w, "spinning", set->spinning);
        mechp_text_member_number(w, "rolling", set->rolling);
    }
}

static void write_constraint(struct mechp_text *w, const struct mech_sim_system *s, int32_t i)
{
    const char *name = NULL;
    int32_t offset = -1;
    const struct mech_system_constraint *const c = mech_sim_system_constraint(s, i, &name, &offset);
    mechp_text_object(w);
    mechp_text_member_string(w, "name", name);
    static const char *const sources[] = {[MECH_SOURCE_JOINT] = "joint",
                                          [MECH_SOURCE_INTERACTION] = "interaction",
                                          [MECH_SOURCE_CONTACT] = "contact"};
    mechp_text_member_string(w, "source", sources[c->source]);
    if (mech_sim_system_other(s, i) != NULL) {
        mechp_text_member_string(w, "with", mech_sim_system_other(s, i));
    }
    mechp_text_member_integer(w, "row", c->row);
    write_set(w, &c->set);
    write_offset(w, offset);
    mechp_text_key(w, "active");
    mechp_text_bool(w, offset >= 0);
    write_flags(w, c->flags);
    mechp_text_key(w, "mirrored");
    mechp_text_bool(w, c->mirrored);
    mechp_text_member_number(w, "position", c->position);
    mechp_text_member_number(w, "cfm", c->cfm);
    mechp_text_end(w);
}

static void write_block(struct mechp_text *w, const struct mech_system_block *b)
{
    mechp_text_object(w);
    mechp_text_key(w, "variables");
    mechp_text_array(w);
    mechp_text_integer(w, b->a);
    if (b->b != b->a) {
        mechp_text_integer(w, b->b);
    }
    mechp_text_end(w);
    mechp_text_member_integer(w, "K", (int64_t)b->entries[0]);
    mechp_text_member_integer(w, "C", (int64_t)b->entries[1]);
    mechp_text_member_integer(w, "M", (int64_t)b->entries[2]);
    mechp_text_end(w);
}

static enum mechd_progress run_blocks(struct mechd_call *c)
{
    struct mech_sim_system *const s = mechd_system_open(c);
    struct mechp_text *const w = &c->text;
    struct mech_sim_system_info info;
    if (s == NULL) {
        return MECHD_DONE;
    }
    mech_sim_system_info(s, &info);
    mechd_system_begin(c, &info);
    mechp_text_key(w, "variables");
    mechp_text_array(w);
    for (int32_t i = 0; i < info.size.variables; i++) {
        write_variables(w, s, i);
    }
    mechp_text_end(w);
    mechp_text_key(w, "constraints");
    mechp_text_array(w);
    for (int32_t i = 0; i < info.size.constraints; i++) {
        write_constraint(w, s, i);
    }
    mechp_text_end(w);
    mechp_text_key(w, "blocks");
    mechp_text_array(w);
    for (int32_t i = 0; i < info.size.blocks; i++) {
        write_block(w, mech_sim_system_block(s, i));
    }
    mechp_text_end(w);
    mechp_text_end(w);
    mech_sim_system_destroy(s);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SYSTEM_BLOCKS = {.run = run_blocks};

/* --- GET …/system/{what} ---------------------------------------------------------------------- */

static void write_rows(struct mechp_text *w, const struct mech_triplet *t, size_t count,
                       double *values, const int32_t shape[2])
{
    for (size_t k = 0; k < count; k++) {
        values[t[k].row * shape[1] + t[k].col] = t[k].value;
    }
    mechp_text_key(w, "rows");
    mechd_write_matrix(&(const struct mechd_matrix){values, shape[0], shape[1]}, w);
}

static void write_coo(struct mechp_text *w, const struct mech_triplet *t, size_t count)
{
    mechp_text_key(w, "coo");
    mechp_text_array(w);
    for (size_t k = 0; k < count; k++) {
        mechp_text_numbers(w, (const double[]){t[k].row, t[k].col, t[k].value}, 3);
    }
    mechp_text_end(w);
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
        mechd_fail(c, MECHP_LIMIT_REACHED, "%zu entries; request mtx or coo1", count);
    } else {
        mechd_system_begin(c, &info);
        mechp_text_member_string(&c->text, "name", mech_system_part(part)->name);
        mechd_system_shape(&c->text, s, part);
        if (vector) {
            mech_sim_system_vector(s, part, values);
            mechp_text_key(&c->text, "values");
            mechp_text_numbers(&c->text, values, (size_t)shape[0]);
        } else if (dense) {
            write_rows(&c->text, t, count, values, shape);
        } else {
            write_coo(&c->text, t, count);
        }
        mechp_text_end(&c->text);
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
    struct mech_sim_system *const s = form >= 0 ? mechd_system_open(c) : NULL;
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
