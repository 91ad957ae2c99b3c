/* The list of wants.def as a table, and its reader. */
#include "protocol/wire/wants.h"

#include <stdio.h>
#include <string.h>

enum { no, yes };

#define MECHP_WANT(symbol, name, step, frame, coupling, program, doc)                              \
    {name, doc,                                                                                    \
     (step) << MECHP_WANTED_STEP | (frame) << MECHP_WANTED_FRAME |                                 \
         (coupling) << MECHP_WANTED_COUPLING | (program) << MECHP_WANTED_PROGRAM},
static const struct {
    const char *name, *doc;
    unsigned of; /* bits of enum mechp_wanted */
} wants[] = {
#include "protocol/wire/wants.def"
};
#undef MECHP_WANT

/* How faults begin, and what is before and behind a name. */
static const struct {
    const char *what, *quote;
} sources[MECHP_WANTED_SOURCES] = {
    [MECHP_WANTED_STEP] = {"a step can return", "\""},
    [MECHP_WANTED_FRAME] = {"a frame can carry", ""},
    [MECHP_WANTED_COUPLING] = {"a coupling can return", "\""},
    [MECHP_WANTED_PROGRAM] = {"a partner of a coupling can return", "\""},
};

static bool has(int want, enum mechp_wanted of)
{
    return want >= 0 && want < MECHP_WANT_MEMBERS && (wants[want].of >> of & 1u) != 0;
}

const char *mechp_want_name(int want, enum mechp_wanted of)
{
    return has(want, of) ? wants[want].name : NULL;
}

const char *mechp_want_doc(int want, enum mechp_wanted of)
{
    return has(want, of) ? wants[want].doc : NULL;
}

/* "/want/k", without printf, which costs more than the rest of a list that has no faults. */
static void write_place(size_t k, char path[MECHP_WANT_PATH])
{
    char digits[24];
    size_t n = sizeof digits;
    for (digits[--n] = '\0'; n == sizeof digits - 1 || k > 0; k /= 10) {
        digits[--n] = (char)('0' + k % 10);
    }
    memcpy(path, "/want/", 6);
    memcpy(path + 6, digits + n, sizeof digits - n);
}

int mechp_want_read(const json_t *list, size_t k, enum mechp_wanted of, char path[MECHP_WANT_PATH],
                    struct mech_diag *diag)
{
    const char *const text = json_string_value(json_array_get(list, k));
    char names[160] = "";
    write_place(k, path);
    for (int want = 0; text != NULL && want < MECHP_WANT_MEMBERS; want++) {
        if (has(want, of) && strcmp(text, wants[want].name) == 0) {
            return want;
        }
    }
    for (int want = 0; want < MECHP_WANT_MEMBERS; want++) {
        if (has(want, of)) {
            const size_t n = strlen(names);
            snprintf(names + n, sizeof names - n, "%s%s%s%s", n > 0 ? ", " : "", sources[of].quote,
                     wants[want].name, sources[of].quote);
        }
    }
    mech_diag_add(diag, path, "%s: %s", sources[of].what, names);
    return -1;
}
