/* Rows of numbers as an answer, in any form.
 *
 *   JSON    {"columns": ["time", "x", "v[0]", "v[1]"], "rows": [[…], …]}
 *   NDJSON  {"time": …, "outputs": {"x": …, "v": […]}} a line; columns of a group are adjacent
 *   CSV     a line of the column names, then a line a row; numbers shortest round-trip
 *   NPY     a matrix [rows, columns] of float64, rows contiguous (numpy.load)
 *   F64     the same numbers without a head
 *
 * The columns of an instance are time and then, packed, each output. owner: one request.
 */
#pragma once

#include "server/call/forms.h"

struct mechd_column {
    const char *name;
    int32_t size; /* values */
    bool scalar;  /* a number in NDJSON and one name without an index, else an array */
    const char
        *group; /* NULL: none; neighbours of one group are an object of this name in NDJSON */
};

struct mechd_rows {
    enum mechd_form form;
    struct mechp_text *text;
    const struct mechd_column *columns; /* [count] */
    size_t count;
    size_t width; /* values of a row: set by mechd_rows_begin */
    bool gaps;    /* null in JSON and CSV, NaN in the others, marks a failure */
    bool paged;   /* JSON: gives the start of the rest */
    double next;  /* s; NaN: there is no rest */
};

/* Time and the outputs of an instance: [channel_count + 1]; the caller frees. NULL: no memory. */
struct mechd_column *mechd_rows_columns(const struct mechd_instance *i);
/* The column of a variable in the group of outputs. */
struct mechd_column mechd_rows_output(const struct mech_variable *v);
/* The column of the state's hash, MECHD_HASH_VALUES numbers. */
struct mechd_column mechd_rows_hash(void);
/* The column of an input, in the group of inputs. */
struct mechd_column mechd_rows_input(const struct mech_variable *v);
struct mechd_run_settings;
/* The same of what a run records, closed by a column without a name. */
struct mechd_column *mechd_rows_recorded(const struct mechd_instance *i,
                                         const struct mechd_run_settings *s);

/* The other way: a body in NPY (little-endian float64, of any shape) or F64, by its media type, of
 * exactly `count` numbers, into out. False: a fault describes what it is instead. */
bool mechd_rows_read(struct mechd_call *c, size_t count, double *out);

/* `rows` rows will follow. The text is empty, its form not JSON over a door without it. */
void mechd_rows_begin(struct mechd_rows *r, uint64_t rows);
/* One row, values [width]. */
void mechd_rows_add(struct mechd_rows *r, const double *values);
void mechd_rows_end(struct mechd_rows *r);

/* For a table in JSON that has more members than these, in place of begin and end: the names of its
 * columns as a list, a value of a body. A row, then, is an entry of another list. */
void mechd_rows_columns_write(struct mechd_rows *r);
