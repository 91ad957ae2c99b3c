/* The table of sweeps, and their life. */
#include "server/sweep/sweep.h"

#include "protocol/wire/bodies.h"
#include "server/call/service.h"
#include "server/os/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mechd_sweeps_init(struct mechd_sweeps *t)
{
    pthread_mutex_init(&t->m, NULL);
}

void mechd_sweeps_fini(struct mechd_sweeps *t)
{
    while (t->newest != NULL) {
        struct mechd_sweep *s = t->newest;
        t->newest = s->next;
        mechd_sweep_unref(s);
    }
    pthread_mutex_destroy(&t->m);
}

void mechd_sweep_plan_fini(struct mechd_sweep_plan *p)
{
    if (p->ops != NULL) {
        p->ops->drop(p->of);
    }
    free(p->names);
    free(p->index);
    free(p->values);
    free(p->outputs);
    *p = (struct mechd_sweep_plan){.ops = NULL};
}

void mechd_sweep_unref(struct mechd_sweep *s)
{
    if (s == NULL || atomic_fetch_sub(&s->refs, 1) != 1) {
        return;
    }
    atomic_fetch_sub(&s->service->sweeps->bytes, s->bytes);
    for (int k = 0; k < MECHD_QUOTA_HELD; k++) {
        mechd_sweep_give(s, (enum mechd_quota)k, UINT64_MAX);
    }
    mechd_sweep_plan_fini(&s->plan);
    mechd_memory_freed(&s->service->host.memory);
    pthread_mutex_destroy(&s->m);
    free(s->name);
    free(s->columns);
    free(s->rows);
    free(s->row_counts);
    free(s->over);
    free(s->lanes);
    free(s);
}

size_t mechd_sweep_width(const struct mechd_sweep_plan *p)
{
    size_t width = p->places + 2;
    for (size_t k = 0; k < p->output_count; k++) {
        width += (size_t)p->outputs[k].size;
    }
    return width;
}

double mechd_sweep_bytes(const struct mechd_sweep_plan *p)
{
    const double point =
        (double)p->capacity * (double)mechd_sweep_width(p) + (double)p->places + 2.;
    return (double)p->points * point * (double)sizeof(double);
}

int mechd_sweep_columns(struct mechd_sweep *s)
{
    const struct mechd_sweep_plan *p = &s->plan;
    s->column_count = p->places + 2 + p->output_count;
    s->width = mechd_sweep_width(p);
    s->columns = calloc(s->column_count, sizeof *s->columns);
    struct mechd_column *column = s->columns;
    if (column == NULL) {
        return MECH_NO_MEMORY;
    }
    *column++ = (struct mechd_column){"point", 1, true, NULL};
    for (size_t k = 0; k < p->places; k++) {
        *column++ = (struct mechd_column){p->names[k], 1, true, "parameters"};
    }
    *column++ = (struct mechd_column){"time", 1, true, NULL};
    for (size_t k = 0; k < p->output_count; k++) {
        const struct mechd_sweep_output *o = &p->outputs[k];
        *column++ = (struct mechd_column){o->name, o->size, o->scalar, "outputs"};
    }
    return 0;
}

/* --- accounts --------------------------------------------------------------------------------- */

void mechd_sweep_give(struct mechd_sweep *s, enum mechd_quota which, uint64_t amount)
{
    const uint64_t less = amount < s->held[which] ? amount : s->held[which];
    if (less > 0) {
        mechd_account_give(s->account, which, less);
        s->held[which] -= less;
    }
}

/* --- life ------------------------------------------------------------------------------------- */

void mechd_sweep_write_parameters(const struct mechd_sweep *s, struct mechp_text *w)
{
    mechp_text_array(w);
    for (size_t k = 0; k < s->plan.places; k++) {
        mechp_text_string(w, s->plan.names[k]);
    }
    mechp_text_end(w);
}

void mechd_sweep_write_errors(struct mechd_sweep *s, struct mechp_text *w)
{
    mechp_text_array(w);
    pthread_mutex_lock(&s->m);
    for (int k = 0; k < s->error_count; k++) {
        const struct mechd_sweep_error *e = &s->errors[k];
        const struct mechp_body_sweep_error body = {e->point, mechp_code((int)e->code)->text,
                                                    e->reason};
        MECHP_WRITE(sweep_error, &body, w);
    }
    pthread_mutex_unlock(&s->m);
    mechp_text_end(w);
}

const char *mechd_sweep_state(struct mechd_sweep *s)
{
    // `done` is read last: if the sweep is over, all points are done
    const bool over = atomic_load(&s->over_all);
    return !over                                     ? "running"
           : atomic_load(&s->done) == s->plan.points ? "finished"
           : mechd_sweep_asked(s) != MECHD_STOP_NONE ? "stopped"
                                                     : "interrupted";
}

void mechd_sweep_id(const struct mechd_sweep *s, char *out)
{
    mechd_id_write('w', s->service->host.series, s->id, out);
}

struct mechd_sweep *mechd_sweep_find(struct mechd_sweeps *t, const char *id)
{
    char own[MECHD_ID];
    struct mechd_sweep *found = NULL;
    pthread_mutex_lock(&t->m);
    for (struct mechd_sweep *s = t->newest; s != NULL && found == NULL; s = s->next) {
        mechd_sweep_id(s, own);
        if (strcmp(own, id) == 0) {
            found = s;
            atomic_fetch_add(&s->refs, 1);
        }
    }
    pthread_mutex_unlock(&t->m);
    return found;
}

int mechd_sweep_list(struct mechd_sweeps *t, struct mechd_sweep ***out, size_t *count)
{
    struct mechd_sweep **all = calloc(MECHD_SWEEPS_MOST, sizeof(struct mechd_sweep *));
    *out = all;
    *count = 0;
    if (all == NULL) {
        return MECH_NO_MEMORY;
    }
    pthread_mutex_lock(&t->m);
    size_t at = (size_t)t->count;
    *count = at;
    for (struct mechd_sweep *s = t->newest; s != NULL; s = s->next) {
        atomic_fetch_add(&s->refs, 1);
        all[--at] = s;
    }
    pthread_mutex_unlock(&t->m);
    return 0;
}

bool mechd_sweep_remove(struct mechd_sweeps *t, struct mechd_sweep *s)
{
    pthread_mutex_lock(&t->m);
    struct mechd_sweep **at = &t->newest;
    while (*at != NULL && *at != s) {
        at = &(*at)->next;
    }
    const bool in = *at == s;
    if (in) {
        *at = s->next;
        t->count--;
    }
    pthread_mutex_unlock(&t->m);
    if (in) {
        (void)mechd_stop_raise(&s->stop, MECHD_STOP_DELETED);
        mechd_sweep_unref(s);
    }
    return in;
}
