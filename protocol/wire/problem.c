/* Problem details (RFC 9457) from a code, a sentence and the faults of a diagnosis. */
#include "protocol/wire/problem.h"

#include "solver/base/odd.h"

#include <stdio.h>

/* What a sentence quotes from outside is shown, by its code point where it cannot be seen. */
static void write_sentence(struct mechp_text *w, const char *sentence)
{
    char shown[1024];
    mech_text_show(shown, sizeof shown, sentence);
    mechp_text_string(w, shown);
}

static void write_entries(const struct mech_diag_entry *entries, size_t count, struct mechp_text *w)
{
    mechp_text_array(w);
    for (size_t i = 0; i < count; i++) {
        mechp_text_object(w);
        mechp_text_key(w, "pointer");
        mechp_text_string(w, entries[i].path);
        mechp_text_key(w, "message");
        write_sentence(w, entries[i].text);
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

void mechp_problem_list_warnings(const struct mech_diag *d, struct mechp_text *w)
{
    write_entries(d->warnings, d->warning_count, w);
}

/* Faults with their places; those beyond the kept ones are counted. */
static void write_errors(const struct mech_diag *d, struct mechp_text *w)
{
    mechp_text_key(w, "errors");
    write_entries(d->entries, d->count, w);
    if (d->total > d->count) {
        mechp_text_key(w, "moreErrors");
        mechp_text_unsigned(w, d->total - d->count);
    }
}

void mechp_problem_write(const struct mechp_problem *p, struct mechp_text *w)
{
    const struct mechp_code_info *const info = mechp_code((int)p->code);
    char type[80];
    snprintf(type, sizeof type, "/docs#%s", info->text);
    mechp_text_object(w);
    mechp_text_key(w, "type");
    mechp_text_string(w, type);
    mechp_text_key(w, "title");
    mechp_text_string(w, info->title);
    mechp_text_key(w, "status");
    mechp_text_integer(w, info->http_status);
    mechp_text_key(w, "code");
    mechp_text_string(w, info->text);
    mechp_text_key(w, "number");
    mechp_text_integer(w, (int)info->code);
    // without a sentence of its own, the first fault is the most informative
    const bool faults = p->diag != NULL && p->diag->count > 0;
    if (p->detail != NULL || faults) {
        mechp_text_key(w, "detail");
        write_sentence(w, p->detail != NULL ? p->detail : p->diag->entries[0].text);
    }
    if (p->diag != NULL && p->diag->total > 0) {
        write_errors(p->diag, w);
    }
    if (p->report != NULL) {
        mechp_text_key(w, "report");
        mechp_text_raw(w, p->report, p->report_length);
    }
    if (p->quota != NULL) {
        mechp_text_key(w, "quota");
        mechp_text_raw(w, p->quota, p->quota_length);
    }
    mechp_text_end(w);
}

void mechp_problem_write_reply(const struct mechp_problem *p, const char *sequence,
                               size_t sequence_length, struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_key(w, "ok");
    mechp_text_bool(w, false);
    if (sequence != NULL) {
        mechp_text_key(w, "sequence");
        mechp_text_raw(w, sequence, sequence_length);
    }
    mechp_text_key(w, "error");
    mechp_problem_write(p, w);
    mechp_text_end(w);
}
