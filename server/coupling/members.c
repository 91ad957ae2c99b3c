/* Members of the objects of a request for a coupling. */
#include "server/coupling/reading.h"

#include "solver/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 128 };

void mechd_reading_fault(const struct mechd_reading *r, const char *path, const char *format, ...)
{
    char text[200];
    va_list list;
    va_start(list, format);
    mech_text_format_list(text, sizeof text, format, list);
    va_end(list);
    mech_diag_add(r->diag, path, "%s", text);
}

void mechd_reading_fail(struct mechd_reading *r, enum mechp_code code, const char *detail)
{
    if (r->code == MECHP_OK) {
        r->code = code;
        mech_text_format(r->detail, sizeof r->detail, "%s", detail);
    }
    if (r->c != NULL && r->c->code == MECHP_OK) {
        mechd_fail(r->c, code, "%s", detail);
    }
}

bool mechd_reading_good(const struct mechd_reading *r)
{
    return mech_diag_clean(r->diag) && r->code == MECHP_OK &&
           (r->c == NULL || r->c->code == MECHP_OK);
}

int32_t mechd_reading_part(const struct mechd_reading *r, const char *name)
{
    int32_t n = 0;
    while (n < r->g->count && strcmp(r->g->parts[n].name, name) != 0) {
        n++;
    }
    return n < r->g->count ? n : -1;
}

const char *mechd_reading_hint(const struct mechd_reading *r, struct mech_guess *g,
                               const char *name)
{
    *g = (struct mech_guess){.text = name};
    for (int32_t n = 0; n < r->g->count && n < MECH_GUESS_MOST; n++) {
        mech_guess_try(g, r->g->parts[n].name);
    }
    return mech_guess_hint(g);
}

double mechd_reading_or(double given, double preset)
{
    return isnan(given) ? preset : given;
}

void mechd_reading_must(const struct mechd_reading *r, bool holds, const char *path,
                        const char *key, const char *text)
{
    char place[PATH];
    if (!holds) {
        snprintf(place, sizeof place, "%.80s/%.40s", path, key);
        mechd_reading_fault(r, place, "%s", text);
    }
}
