/* Bodies as structs: the writer. */
#include "protocol/wire/body.h"

#include <math.h>
#include <string.h>

enum { HOLDS = 127 };

enum mechp_holds mechp_member_holds(const struct mechp_member *m)
{
    return (enum mechp_holds)(m->field >> 1 & HOLDS);
}

size_t mechp_member_offset(const struct mechp_member *m)
{
    return m->field >> 8;
}

/* The member of the struct as a pointer to one of its type. */
static const void *place(const struct mechp_member *m, const void *body)
{
    return (const char *)body + mechp_member_offset(m);
}

static bool is_absent(const struct mechp_member *m, const void *at)
{
    switch (mechp_member_holds(m)) {
    case MECHP_HOLDS_DOUBLE:
        return isnan(*(const double *)at);
    case MECHP_HOLDS_INTEGER:
        return *(const int64_t *)at == INT64_MIN;
    case MECHP_HOLDS_UNSIGNED:
        return *(const uint64_t *)at == MECHP_ABSENT;
    case MECHP_HOLDS_BOOL:
        return !*(const bool *)at;
    case MECHP_HOLDS_FLAG:
        return *(const bool *const *)at == NULL;
    case MECHP_HOLDS_TEXT:
        return *(const char *const *)at == NULL;
    case MECHP_HOLDS_NUMBERS:
        return ((const struct mechp_numbers *)at)->at == NULL;
    case MECHP_HOLDS_WRITTEN:
        return ((const struct mechp_written *)at)->write == NULL;
    case MECHP_HOLDS_NOTHING:
    default:
        return true;
    }
}

static void write_value(const struct mechp_member *m, const void *at, struct mechp_text *w)
{
    const struct mechp_numbers *const numbers = at;
    const struct mechp_written *const written = at;
    switch (mechp_member_holds(m)) {
    case MECHP_HOLDS_DOUBLE:
        if (strstr(m->type, "null") != NULL) {
            mechp_text_number_or_null(w, *(const double *)at);
        } else {
            mechp_text_number(w, *(const double *)at);
        }
        break;
    case MECHP_HOLDS_INTEGER:
        mechp_text_integer(w, *(const int64_t *)at);
        break;
    case MECHP_HOLDS_UNSIGNED:
        mechp_text_unsigned(w, *(const uint64_t *)at);
        break;
    case MECHP_HOLDS_BOOL:
        mechp_text_bool(w, *(const bool *)at);
        break;
    case MECHP_HOLDS_FLAG:
        mechp_text_bool(w, **(const bool *const *)at);
        break;
    case MECHP_HOLDS_TEXT:
        mechp_text_string(w, *(const char *const *)at);
        break;
    case MECHP_HOLDS_NUMBERS:
        mechp_text_numbers(w, numbers->at, numbers->count);
        break;
    case MECHP_HOLDS_WRITTEN:
        written->write(written->of, w);
        break;
    case MECHP_HOLDS_NOTHING:
    default:
        mechp_text_null(w);
    }
}

void mechp_body_members(const struct mechp_shape *shape, const void *body, struct mechp_text *w)
{
    for (const struct mechp_member *m = shape->members; m->name != NULL; m++) {
        const void *const at = place(m, body);
        if (mechp_member_required(m) || !is_absent(m, at)) {
            mechp_text_key(w, m->name);
            write_value(m, at, w);
        }
    }
}

void mechp_body_write(const struct mechp_shape *shape, const void *body, struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_body_members(shape, body, w);
    mechp_text_end(w);
}
