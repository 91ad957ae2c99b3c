/* Numbers and words of requests, and names that do not belong in a query. */
#include "server/call/query.h"

#include "solver/base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest text of a number. */
enum { LONGEST = 32 };

struct range {
    double least, most;
};

/* The range of a number's type, "number 1e-12..1e12". */
static struct range range_of(const char *type, bool whole)
{
    const char *const at = strchr(type, ' ');
    const char *const most = at != NULL ? strstr(at, "..") : NULL;
    struct range range = {.least = whole ? 0. : -DBL_MAX, .most = whole ? 0x1p53 : DBL_MAX};
    if (at != NULL) {
        range.least = strtod(at, NULL);
    }
    if (most != NULL && most[2] != '\0') {
        range.most = strtod(most + 2, NULL);
    }
    return range;
}

/* NaN: a fault. */
static double read(struct mechd_call *c, const struct mechp_parameter *p, const char *text,
                   bool whole)
{
    const struct range range = range_of(p->type, whole);
    char path[32];
    char *end = NULL;
    // digits, signs and exponents only: strtod also takes blanks, "inf" and hexadecimal
    const size_t length = strlen(text);
    const bool plain = length > 0 && length <= LONGEST &&
                       strspn(text, whole ? "0123456789" : "+-.0123456789eE") == length;
    const double value = plain ? strtod(text, &end) : (double)NAN;
    if (!plain || *end != '\0' || !(value >= range.least && value <= range.most)) {
        snprintf(path, sizeof path, "/%s", p->name);
        if (range.least <= -DBL_MAX) {
            mech_diag_add(&c->diag, path, "expected a number");
        } else if (whole && range.most - range.least == 1.) {
            mech_diag_add(&c->diag, path, "expected %.17g or %.17g", range.least, range.most);
        } else {
            mech_diag_add(&c->diag, path, "expected a %snumber from %.9g to %.17g",
                          whole ? "whole " : "", range.least, range.most);
        }
        return (double)NAN;
    }
    return value;
}

static void odd(struct mechd_call *c, const char *name, const char *expected)
{
    char path[32];
    snprintf(path, sizeof path, "/%s", name);
    mech_diag_add(&c->diag, path, "expected %s", expected);
}

static bool truth(struct mechd_call *c, const char *name, const char *text)
{
    const bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0) {
        odd(c, name, "true or false");
    }
    return yes;
}

static int word(struct mechd_call *c, const struct mechp_parameter *p, const char *text)
{
    const int place = mechp_type_word(p->type, text);
    if (place < 0) {
        char words[160];
        odd(c, p->name, mechp_type_words(p->type, words, sizeof words));
    }
    return place < 0 ? MECHP_ODD_WORD : place;
}

/* A text that is there into its place, which is absent so far. */
static void read_one(struct mechd_call *c, const struct mechp_parameter *p, const char *text,
                     void *at)
{
    const enum mechp_holds holds = mechp_place_holds(p->field);
    const bool whole = holds != MECHP_HOLDS_DOUBLE;
    double number = (double)NAN;
    switch (holds) {
    case MECHP_HOLDS_DOUBLE:
        *(double *)at = read(c, p, text, whole);
        break;
    case MECHP_HOLDS_INTEGER:
        number = read(c, p, text, whole);
        *(int64_t *)at = isnan(number) ? *(int64_t *)at : (int64_t)number;
        break;
    case MECHP_HOLDS_UNSIGNED:
        number = read(c, p, text, whole);
        *(uint64_t *)at = isnan(number) ? *(uint64_t *)at : (uint64_t)number;
        break;
    case MECHP_HOLDS_BOOL:
        *(bool *)at = truth(c, p->name, text);
        break;
    case MECHP_HOLDS_WORD:
        *(int *)at = word(c, p, text);
        break;
    case MECHP_HOLDS_TEXT:
        *(const char **)at = text;
        break;
    case MECHP_HOLDS_LISTED:
        ((struct mechp_listed *)at)->text = text;
        break;
    case MECHP_HOLDS_FLAG:
    case MECHP_HOLDS_NUMBERS:
    case MECHP_HOLDS_WRITTEN:
    case MECHP_HOLDS_INNER:
    case MECHP_HOLDS_PART:
    case MECHP_HOLDS_TREE:
    case MECHP_HOLDS_OBJECT:
    case MECHP_HOLDS_LIST:
    case MECHP_HOLDS_WHICH:
    case MECHP_HOLDS_NOTHING:
    default:
        break;
    }
}

/* What a message has in place of a text, or NULL; in place of a string it may be a member that the
 * operation takes of the body. */
static void read_array(struct mechd_call *c, const struct mechp_parameter *p, const json_t *value,
                       void *at)
{
    const enum mechp_holds holds = mechp_place_holds(p->field);
    if (holds == MECHP_HOLDS_LISTED) {
        ((struct mechp_listed *)at)->array = value;
    } else if (value != NULL && holds != MECHP_HOLDS_TEXT) {
        odd(c, p->name, "a string or a number");
    }
}

void mechd_query_read(struct mechd_call *c, void *to)
{
    const struct mechp_row *const row = mechd_call_row(c);
    for (int k = 0; k < mechp_query_count(row); k++) {
        const struct mechp_parameter *const p = &row->query[k];
        if (p->field == 0) {
            continue;
        }
        void *const at = (char *)to + mechp_place_offset(p->field);
        mechp_put_absent(mechp_place_holds(p->field), at);
        if (c->query[k] != NULL) {
            read_one(c, p, c->query[k], at);
        } else if (c->door != MECHD_DOOR_HTTP) {
            read_array(c, p, json_object_get(c->body, p->name), at);
        }
    }
}

int mechd_query_unknown(struct mechd_call *c, const char *name)
{
    char list[160] = "";
    const struct mechp_row *const row = mechd_call_row(c);
    for (int k = 0; k < mechp_query_count(row); k++) {
        mech_text_append(list, sizeof list, "%s%s", k > 0 ? ", " : "", row->query[k].name);
    }
    if (list[0] == '\0') {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                            "'%.32s': this route has no query parameters", name);
    }
    return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                        "'%.32s' in the query is unknown or given twice; accepted: %s", name, list);
}
