/* One writer a form. Source of NPY: numpy/lib/format, versions 1.0 and 2.0. */
#include "server/call/rows.h"

#include "server/instance/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "NPY and F64 are written as they lie");

enum { NUMBER = 32, DIGITS = 16, LINE = 4096, ALIGNED = 64 };

static const char inputs[] = "inputs", input_prefix[] = "input:";

/* The name of one value of a column: x, or x[2]; of an input input:x. */
struct naming {
    const char *pieces[3];
    char index[DIGITS]; /* "[2]" */
};

static void name_of(const struct mechd_column *k, int32_t index, struct naming *out)
{
    char *at = out->index + sizeof out->index - 1;
    *at = '\0';
    if (!k->scalar) {
        *--at = ']';
        do {
            *--at = (char)('0' + index % 10);
            index /= 10;
        } while (index > 0);
        *--at = '[';
    }
    out->pieces[0] = k->group == inputs ? input_prefix : "";
    out->pieces[1] = k->name;
    out->pieces[2] = at;
}

/* A field of CSV: in quotes where a comma, a quote or the end of a line is in it (RFC 4180). */
static void add_csv_name(struct mechp_text *w, const struct naming *name)
{
    static const char special[] = ",\"\r\n";
    const bool quoted = strpbrk(name->pieces[1], special) != NULL;
    mechp_text_plain(w, "\"", quoted);
    for (size_t k = 0; k < sizeof name->pieces / sizeof *name->pieces; k++) {
        for (const char *p = name->pieces[k]; *p != '\0';) {
            // a quote is written twice
            const size_t n = strcspn(p, "\"") + (strchr(p, '"') != NULL);
            mechp_text_plain(w, p, n);
            mechp_text_plain(w, "\"", p[n - 1] == '"');
            p += n;
        }
    }
    mechp_text_plain(w, "\"", quoted);
}

/* Magic, version, length of what follows, a Python dictionary, blanks and a line's end: a multiple
 * of 64 bytes. */
static void begin_npy(struct mechd_rows *r, uint64_t rows)
{
    char head[192] = "\x93NUMPY\x01";
    char *const text = head + 10;
    int n = snprintf(text, sizeof head - 10,
                     "{'descr': '<f8', 'fortran_order': False, 'shape': (%" PRIu64 ", %zu), }",
                     rows, r->width);
    while ((10 + n + 1) % ALIGNED != 0) {
        text[n++] = ' ';
    }
    text[n++] = '\n';
    head[8] = (char)(n & 0xff);
    head[9] = (char)(n >> 8);
    mechp_text_plain(r->text, head, (size_t)n + 10);
}

/* Every name in turn; the separator precedes all but the first. */
static void write_names(struct mechd_rows *r)
{
    bool first = true;
    struct naming name;
    for (size_t k = 0; k < r->count; k++) {
        for (int32_t n = 0; n < r->columns[k].size; n++) {
            name_of(&r->columns[k], n, &name);
            if (r->form == MECHD_FORM_JSON) {
                mechp_text_string_of(r->text, name.pieces, sizeof name.pieces / sizeof(char *));
            } else {
                mechp_text_plain(r->text, ",", first ? 0 : 1);
                add_csv_name(r->text, &name);
            }
            first = false;
        }
    }
}

struct mechd_column mechd_rows_output(const struct mech_variable *v)
{
    return (struct mechd_column){v->name, v->size, v->scalar, "outputs"};
}

struct mechd_column mechd_rows_hash(void)
{
    return (struct mechd_column){"state:hash", MECHD_HASH_VALUES, false, NULL};
}

struct mechd_column mechd_rows_input(const struct mech_variable *v)
{
    return (struct mechd_column){v->name, v->size, v->scalar, inputs};
}

struct mechd_column *mechd_rows_recorded(const struct mechd_instance *i,
                                         const struct mechd_run_settings *s)
{
    const size_t count = s->inputs ? mechd_engine_variable_count(&i->engine, MECH_INPUT) : 0;
    struct mechd_column *columns = calloc(i->channel_count + count + 3, sizeof *columns);
    size_t n = 1;
    if (columns == NULL) {
        return NULL;
    }
    columns[0] = (struct mechd_column){"time", 1, true, NULL};
    for (size_t k = 0; k < i->channel_count; k++) {
        if (s->chosen == NULL || s->chosen[k]) {
            columns[n++] = mechd_rows_output(&i->channels[k]);
        }
    }
    for (size_t k = 0; k < count; k++) {
        struct mech_variable v;
        mechd_engine_variable(&i->engine, MECH_INPUT, k, &v);
        columns[n++] = mechd_rows_input(&v);
    }
    if (s->hash) {
        columns[n] = mechd_rows_hash();
    }
    return columns;
}

struct mechd_column *mechd_rows_columns(const struct mechd_instance *i)
{
    return mechd_rows_recorded(i, &(struct mechd_run_settings){.hash = false});
}

static void set_width(struct mechd_rows *r)
{
    r->width = 0;
    for (size_t k = 0; k < r->count; k++) {
        r->width += (size_t)r->columns[k].size;
    }
}

void mechd_rows_columns_write(struct mechd_rows *r)
{
    set_width(r);
    mechp_text_array(r->text);
    write_names(r);
    mechp_text_end(r->text);
}

void mechd_rows_begin(struct mechd_rows *r, uint64_t rows)
{
    set_width(r);
    if (r->form == MECHD_FORM_JSON) {
        mechp_text_object(r->text);
        mechp_text_key(r->text, "columns");
        mechd_rows_columns_write(r);
        mechp_text_key(r->text, "rows");
        mechp_text_array(r->text);
    } else if (r->form == MECHD_FORM_CSV) {
        write_names(r);
        mechp_text_plain(r->text, "\r\n", 2);
    } else if (r->form == MECHD_FORM_NPY) {
        begin_npy(r, rows);
    }
}

/* RFC 4180; what is not finite comes as null. */
static void add_csv(struct mechd_rows *r, const double *values)
{
    char line[LINE];
    size_t used = 0;
    for (size_t k = 0; k < r->width; k++) {
        if (used > LINE - NUMBER - 4) {
            mechp_text_plain(r->text, line, used);
            used = 0;
        }
        if (k > 0) {
            line[used++] = ',';
        }
        used += mechp_number_text(values[k], line + used);
    }
    line[used++] = '\r';
    line[used++] = '\n';
    mechp_text_plain(r->text, line, used);
}

/* Into the next column's group, out of the last one's. */
static void change_group(struct mechp_text *w, const char **now, const char *next)
{
    const bool same = *now == next || (*now != NULL && next != NULL && strcmp(*now, next) == 0);
    if (!same && *now != NULL) {
        mechp_text_end(w);
    }
    if (!same && next != NULL) {
        mechp_text_key(w, next);
        mechp_text_object(w);
    }
    *now = next;
}

static void add_object(struct mechd_rows *r, const double *values)
{
    const char *group = NULL;
    const double *at = values;
    r->text->comma[0] = false;
    mechp_text_object(r->text);
    for (size_t k = 0; k < r->count; k++) {
        change_group(r->text, &group, r->columns[k].group);
        mechp_text_key(r->text, r->columns[k].name);
        if (r->columns[k].scalar) {
            mechp_text_number(r->text, *at);
        } else {
            mechp_text_numbers(r->text, at, (size_t)r->columns[k].size);
        }
        at += r->columns[k].size;
    }
    change_group(r->text, &group, NULL);
    mechp_text_end(r->text);
    mechp_text_plain(r->text, "\n", 1);
}

void mechd_rows_add(struct mechd_rows *r, const double *values)
{
    const size_t beyond = r->text->beyond;
    if (r->form == MECHD_FORM_JSON) {
        mechp_text_numbers(r->text, values, r->width);
    } else if (r->form == MECHD_FORM_CSV) {
        add_csv(r, values);
    } else if (r->form == MECHD_FORM_NDJSON) {
        add_object(r, values);
    } else {
        mechp_text_plain(r->text, (const char *)values, r->width * sizeof *values);
    }
    if (r->gaps) {
        r->text->beyond = beyond;
    }
}

void mechd_rows_end(struct mechd_rows *r)
{
    if (r->form == MECHD_FORM_JSON) {
        mechp_text_end(r->text);
        if (r->paged) {
            mechp_text_key(r->text, "next");
            mechp_text_number_or_null(r->text, r->next);
        }
        mechp_text_end(r->text);
    }
}
