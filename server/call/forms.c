/* The choice of a form, and answers that are not JSON. */
#include "server/call/forms.h"

#include "protocol/wire/bodies_messages.h"
#include "solver/base/text.h"
#include "solver/base/words.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    const char *type;
    bool binary;
} forms[MECHD_FORMS] = {
    [MECHD_FORM_JSON] = {"json", "application/json", false},
    [MECHD_FORM_NDJSON] = {"ndjson", "application/x-ndjson", false},
    [MECHD_FORM_CSV] = {"csv", "text/csv", false},
    [MECHD_FORM_NPY] = {"npy", MECHD_TYPE_NPY, true},
    [MECHD_FORM_F64] = {"f64", MECHD_TYPE_F64, true},
    [MECHD_FORM_MTX] = {"mtx", "text/x-matrix-market", false},
    [MECHD_FORM_COO1] = {"coo1", "text/plain", false},
    [MECHD_FORM_ARCHIVE] = {"archive", "application/vnd.mechd.system", true},
};

const unsigned mechd_forms_of_rows = 1u << MECHD_FORM_JSON | 1u << MECHD_FORM_NDJSON |
                                     1u << MECHD_FORM_CSV | 1u << MECHD_FORM_NPY |
                                     1u << MECHD_FORM_F64;

/* How much a media range such as "text/plain;q=0.5" wants this type; −1: it does not speak of it.
 */
static double wanted(const char *range, size_t length, const char *type)
{
    const size_t name = strcspn(range, "; \t");
    const size_t n = name < length ? name : length;
    const size_t slash = strcspn(type, "/") + 1;
    const bool all = n == 3 && strncmp(range, "*/*", 3) == 0;
    const bool family =
        n == slash + 1 && range[slash] == '*' && strncasecmp(range, type, slash) == 0;
    const bool exact = n == strlen(type) && strncasecmp(range, type, n) == 0;
    if (!all && !family && !exact) {
        return -1.;
    }
    return mech_element_weight(range, length);
}

/* How much the header wants this type, by the range that names it most closely (3: exactly). */
static double quality(const char *accept, const char *type, size_t *closeness)
{
    double value = -1.;
    *closeness = 0;
    size_t n = 0;
    const char *rest = accept;
    for (const char *at; (at = mech_element_next(&rest, &n)) != NULL;) {
        const double q = wanted(at, n, type);
        const size_t slash = strcspn(at, "/;,");
        const size_t close = at[0] == '*' ? 1 : at[slash] == '/' && at[slash + 1] == '*' ? 2 : 3;
        if (q >= 0. && close > *closeness) {
            *closeness = close;
            value = q;
        }
    }
    return value;
}

static int form_by_accept(const char *accept, unsigned mask)
{
    double best = 0.;
    size_t closest = 0;
    int found = -1;
    for (int k = 0; k < MECHD_FORMS; k++) {
        size_t close = 0;
        const double value = quality(accept, forms[k].type, &close);
        if ((mask >> k & 1) != 0 && value > 0. &&
            (value > best || (value == best && close > closest))) {
            best = value;
            closest = close;
            found = k;
        }
    }
    return found;
}

int mechd_form(struct mechd_call *c, unsigned mask)
{
    const char *name = mechd_call_query(c, "format");
    for (int k = 0; name != NULL && k < MECHD_FORMS; k++) {
        if ((mask >> k & 1) != 0 && strcmp(forms[k].name, name) == 0) {
            return k;
        }
    }
    const int found = name != NULL        ? -1
                      : c->accept == NULL ? MECHD_FORM_JSON
                                          : form_by_accept(c->accept, mask);
    if (found < 0) {
        char list[64] = "";
        for (int k = 0; k < MECHD_FORMS; k++) {
            if ((mask >> k & 1) != 0) {
                mech_text_append(list, sizeof list, "%s%s", list[0] != '\0' ? ", " : "",
                                 forms[k].name);
            }
        }
        mechd_fail(c, MECHP_NOT_ACCEPTABLE, "this format is not available; available formats: %s",
                   list);
    }
    return found;
}

bool mechd_form_prefers(const struct mechd_call *c, const char *one, const char *other)
{
    size_t close = 0;
    return c->accept != NULL && quality(c->accept, one, &close) > quality(c->accept, other, &close);
}

struct bytes {
    const char *at; /* [size] */
    size_t size;
};

static void write_text(const void *bytes, struct mechp_text *w)
{
    const struct bytes *const b = bytes;
    mechp_text_string_n(w, b->at, b->size);
}

void mechd_form_answer(struct mechd_call *c, enum mechd_form form, const char *bytes, size_t size)
{
    if (c->door == MECHD_DOOR_HTTP) {
        mechp_text_plain(&c->text, bytes, size);
        c->content_type = forms[form].type;
    } else if (forms[form].binary) {
        mechd_fail(c, MECHP_NOT_ACCEPTABLE, "binary formats are available over HTTP only");
    } else {
        const struct bytes of = {bytes, size};
        const struct mechp_body_message_text body = {forms[form].name, {write_text, &of}};
        MECHP_WRITE(message_text, &body, &c->text);
    }
}

bool mechd_form_begin(struct mechd_call *c, enum mechd_form form)
{
    if (c->door != MECHD_DOOR_HTTP && form != MECHD_FORM_JSON) {
        mechd_fail(c, MECHP_NOT_ACCEPTABLE, "over this interface only json is available");
        return false;
    }
    c->content_type = forms[form].type;
    return true;
}
