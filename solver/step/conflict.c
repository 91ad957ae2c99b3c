/* Names for the certificate of a problem; see conflict.h. */
#include "solver/step/conflict.h"

#include "solver/base/text.h"
#include "solver/vi/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_TOLD = 3 };

static bool holds(const double *d, int32_t rows)
{
    for (int32_t k = 0; k < rows; k++) {
        if (d[k] != 0.) {
            return true;
        }
    }
    return false;
}

static bool same(struct mech_conflict_names a, struct mech_conflict_names b)
{
    return a.name[0] == b.name[0] && a.name[1] == b.name[1];
}

static void tell(const struct mech_problem *p, const double *d, const struct mech_conflict_of *of,
                 char *text, size_t size)
{
    static const char all[] = "no impulses satisfy these contacts together";
    static const char some[] =
        "no impulses within double precision satisfy these contacts together";
    struct mech_conflict_names told[PAIRS_TOLD];
    int32_t row = 0, n = 0, more = 0;

    mech_text_format(text, size, "%s: ",
                     of->lead                               ? of->lead
                     : mech_certificate_refutes(p, d, NULL) ? all
                                                            : some);
    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const int32_t rows = mech_problem_set(p, i).rows;
        bool known = !holds(d + row, rows);
        struct mech_conflict_names now = {{NULL, NULL}};

        row += rows;
        if (!known) {
            now = of->names(of->self, i);
            now.name[0] = now.name[0] ? now.name[0] : "a contact";
        }
        for (int32_t k = 0; k < n; k++) {
            known |= same(now, told[k]);
        }
        if (known) {
            continue;
        }
        if (n == PAIRS_TOLD) {
            more++;
            continue;
        }
        told[n++] = now;
        mech_text_append(text, size, "%s\"%.20s\"", n > 1 ? ", " : "", now.name[0]);
        if (now.name[1]) {
            mech_text_append(text, size, "–\"%.20s\"", now.name[1]);
        }
    }
    mech_text_append(text, size, "%s", more ? " and others" : "");
}

bool mech_conflict_tell(const struct mech_problem *p, const struct mech_vi_limits *limits,
                        const double *l, const struct mech_conflict_of *of, char *text, size_t size)
{
    double *const d = malloc(((size_t)p->m + 1) * sizeof *d);
    const bool found = d &&
                       mech_certificate_find(p, limits->tolerance, limits->interrupt, l, d) > 0 &&
                       (!of->accepted || mech_certificate_refutes(p, d, l));

    if (found) {
        tell(p, d, of, text, size);
    }
    free(d);
    return found;
}
