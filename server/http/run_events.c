/* GET …/runs/{rid}/events: a run as server-sent events: every recorded row, and how far it is.
 *
 *   event: row
 *   id: 17-6b02756300001
 *   data: {"time":0.16,"outputs":{"x":1.25}}
 *
 *   event: progress
 *   data: {"id":"r-1","state":"running","fraction":0.16,…}
 *
 *   event: end
 *   data: {"id":"r-1","state":"finished",…}
 *
 * The id of a row is its number, from 1, and the life of the instance: a client that comes back
 * with it as Last-Event-ID goes on with the next one; the number alone is one of this run. An id of
 * another life of the instance is none of this run: an event `rewound` says so, with the run as
 * its data, and all rows follow. Of a stored instance a row is sent once it is on the disk, so that
 * what has been sent is there after any end of the process. Progress comes at most `rate` times a
 * second (default 10, most 60), rows as fast as the client takes them.
 */
#include "server/call/rows.h"
#include "server/call/service.h"
#include "server/http/sse.h"
#include "server/instance/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 32768 }; /* bytes of rows written at a time */

struct run_events {
    struct mechd_sse sse; /* first */
    struct mechd_run_reading reading;
    struct mechd_column *columns; /* [rows.count] */
    struct mechd_rows rows;
    uint64_t next;   /* row */
    uint64_t change; /* of the progress that was sent */
    bool rewound;    /* to be sent: the client comes from another life of the instance */
    bool unreadable; /* the rows that follow: they have been deleted, or the disk fails */
    char life[MECHD_LIFE];
};

/* The run is gone, or its rows are. */
static bool is_gone(const struct run_events *e)
{
    return !mechd_instance_lives(e->reading.instance);
}

static bool has_news(struct mechd_sse *s)
{
    struct run_events *const e = (struct run_events *)s;
    struct mechd_run_shown shown;
    mechd_run_reading_follow(&e->reading);
    mechd_run_peek(e->reading.run, &shown);
    return e->rewound || (e->next < e->reading.end && !e->unreadable) ||
           (shown.change != e->change && shown.state == MECHD_RUN_RUNNING) ||
           (shown.state != MECHD_RUN_RUNNING &&
            (is_gone(e) || e->unreadable || !shown.kept || e->next >= shown.rows));
}

/* Rows up to a piece's size. False: they cannot be read any more. */
static bool write_rows(struct run_events *e)
{
    char id[32 + MECHD_LIFE];
    while (e->next < e->reading.end && e->sse.text.length < PIECE) {
        const double *const row = mechd_run_reading_row(&e->reading, e->next);
        if (row == NULL) {
            return false;
        }
        snprintf(id, sizeof id, "%" PRIu64 "-%s", ++e->next, e->life);
        mechd_sse_head(&e->sse, "row", id);
        mechd_rows_add(&e->rows, row);
        // the line of the row has ended already
        mechp_text_plain(&e->sse.text, "\n", 1);
    }
    e->sse.eager = e->next < e->reading.end;
    return true;
}

static void write_run(struct run_events *e, const char *name)
{
    mechd_sse_head(&e->sse, name, NULL);
    mechd_run_write(e->reading.run, &e->sse.text);
    mechd_sse_tail(&e->sse);
}

static void compose(struct mechd_sse *s)
{
    struct run_events *const e = (struct run_events *)s;
    struct mechd_run_shown shown;
    if (mechd_host_drains(e->reading.instance->host)) {
        // no end of the run: the client may come back to the next process
        s->ended = true;
        return;
    }
    // what is shown is never ahead of the rows that follow it
    mechd_run_peek(e->reading.run, &shown);
    mechd_run_reading_follow(&e->reading);
    if (e->rewound) {
        e->rewound = false;
        write_run(e, "rewound");
    }
    e->unreadable = !write_rows(e);
    if (s->eager) {
        return;
    }
    const bool complete = e->unreadable || !shown.kept || e->next >= shown.rows;
    // that of what has been deleted ends soon, as stopped
    if (shown.state != MECHD_RUN_RUNNING && (is_gone(e) || complete)) {
        write_run(e, "end");
        s->ended = true;
    } else if (shown.change != e->change && shown.state == MECHD_RUN_RUNNING) {
        e->change = shown.change;
        write_run(e, "progress");
    }
}

static void destroy(struct mechd_sse *s)
{
    struct run_events *const e = (struct run_events *)s;
    mechd_run_reading_fini(&e->reading);
    free(e->columns);
    free(e);
}

static void drop(struct mechd_call *c)
{
    if (c->work != NULL) {
        destroy(c->work);
    }
}

/* The first row that the client has not seen. False: refused. */
static bool take_last(struct mechd_exchange *x, struct run_events *e)
{
    const char *const last =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Last-Event-ID");
    char *end = NULL;
    errno = 0;
    if (last == NULL || *last == '\0') {
        return true;
    }
    const uint64_t next = strtoull(last, &end, 10);
    const bool life = *end == '-' && end[1] != '\0' && strlen(end + 1) < MECHD_LIFE;
    if (*last < '0' || *last > '9' || (*end != '\0' && !life) || errno != 0) {
        mechd_fail(&x->call, MECHP_MALFORMED_REQUEST,
                   "Last-Event-ID must be the id of a row, as the events gave it, not %.64s", last);
        return false;
    }
    e->rewound = life && strcmp(end + 1, e->life) != 0;
    e->next = e->rewound ? 0 : next;
    return true;
}

enum MHD_Result mechd_run_events_serve(struct mechd_exchange *x)
{
    struct run_events *const e = x->call.work;
    if (!take_last(x, e)) {
        return mechd_exchange_answer(x);
    }
    x->call.work = NULL;
    return mechd_sse_serve(x, &e->sse);
}

/* As owner: the run and its rows; the door does the rest. */
static enum mechd_progress run_events(struct mechd_call *c)
{
    static const struct mechd_sse_ops ops = {has_news, compose, destroy};
    struct mechd_run *const run = mechd_call_run(c);
    mechd_sse_check(c);
    if (run == NULL || !mech_diag_clean(&c->diag)) {
        return MECHD_DONE;
    }
    struct run_events *const e = calloc(1, sizeof *e);
    struct mechd_column *const columns = mechd_rows_recorded(c->job.instance, &run->settings);
    if (e == NULL || columns == NULL) {
        free(e);
        free(columns);
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for another stream of events");
    }
    mechd_run_reading_begin_safe(&e->reading, run);
    mechd_instance_life(c->job.instance, e->life);
    e->sse.ops = &ops;
    e->columns = columns;
    e->rows = (struct mechd_rows){.form = MECHD_FORM_NDJSON,
                                  .gaps = run->settings.inputs,
                                  .text = &e->sse.text,
                                  .columns = columns,
                                  .count = 1};
    while (columns[e->rows.count].name != NULL) {
        e->rows.count++;
    }
    c->work = e;
    c->work_free = drop;
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_RUN_EVENTS = {.run = run_events};
const struct mechd_operation mechd_operation_COUPLING_RUN_EVENTS = {.run = run_events};
