/* Numbers and words of requests, and names that do not belong in a query. */
#include "server/call/query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest text of a number. */
enum { LONGEST = 32 };

static double read(struct mechd_call *c, const char *name, const struct mechd_query_range *range,
                   bool whole)
{
    const char *const text = mechd_call_query(c, name);
    char path[32];
    char *end = NULL;
    if (text == NULL) {
        return range->preset;
    }
    // digits, signs and exponents only: strtod also takes blanks, "inf" and hexadecimal
    const size_t length = strlen(text);
    const bool plain = length > 0 && length <= LONGEST &&
                       strspn(text, whole ? "0123456789" : "+-.0123456789eE") == length;
    const double value = plain ? strtod(text, &end) : (double)NAN;
    if (!plain || *end != '\0' || !(value >= range->least && value <= range->most)) {
        snprintf(path, sizeof path, "/%s", name);
        mech_diag_add(&c->diag, path, "expected a %snumber from %.9g to %.17g",
                      whole ? "whole " : "", range->least, range->most);
        return range->preset;
    }
    return value;
}

double mechd_query_number(struct mechd_call *c, const char *name,
                          const struct mechd_query_range *range)
{
    return read(c, name, range, false);
}

uint64_t mechd_query_whole(struct mechd_call *c, const char *name,
                           const struct mechd_query_range *range)
{
    return (uint64_t)read(c, name, range, true);
}

int mechd_call_word(struct mechd_call *c, const char *name, int preset)
{
    const char *const type = mechp_key_type(mechd_call_row(c), name);
    const json_t *const member = json_object_get(c->body, name);
    const char *const text = member != NULL ? json_string_value(member) : mechd_call_query(c, name);
    const int place = type != NULL && text != NULL ? mechp_type_word(type, text) : -1;
    if (type != NULL && place < 0 && (text != NULL || member != NULL)) {
        char path[32], words[160];
        snprintf(path, sizeof path, "/%s", name);
        mech_diag_add(&c->diag, path, "expected %s", mechp_type_words(type, words, sizeof words));
    }
    return place >= 0 ? place : preset;
}

int mechd_query_unknown(struct mechd_call *c, const char *name)
{
    char list[160] = "";
    const struct mechp_row *const row = mechd_call_row(c);
    for (int k = 0; k < mechp_query_count(row); k++) {
        const size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", k > 0 ? ", " : "", row->query[k].name);
    }
    if (list[0] == '\0') {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                            "'%.32s': this route has no query parameters", name);
    }
    return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                        "'%.32s' in the query is unknown or given twice; accepted: %s", name, list);
}
