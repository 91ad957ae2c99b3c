/* The elements of an SSP document as a tree: those of the standard's namespaces, with their
 * attributes. Text between elements, and elements of other namespaces with all within them, are
 * passed over.
 *
 * The text comes from outside: it is read as xml.h says, and with bounds on its size and what it
 * becomes. All trees are in the caller's arena, whose limit bounds them together. owner: the
 * caller; one thread.
 * Source: System Structure and Parameterization 1.0.1, sections 4 to 8. */
#pragma once

#include "server/engine/ssp.h"

#include <stdbool.h>

enum { MECHD_SSP_TEXT_MOST = 1 << 20 /* bytes of an attribute */ };

/* Namespaces: that of this server is of what it adds to its own files. */
enum mechd_ssp_space {
    MECHD_SSP_NONE,
    MECHD_SSP_SSD,
    MECHD_SSP_SSC,
    MECHD_SSP_SSV,
    MECHD_SSP_SSM,
    MECHD_SSP_SSB,
    MECHD_SSP_MECHD
};

struct mechd_ssp_element {
    const char *name; /* without its namespace */
    enum mechd_ssp_space space;
    const char **attributes; /* name, value, …, NULL: those without a namespace */
    struct mechd_ssp_element *parent, *first, *last, *next;
    const char *file; /* of the archive */
    int line;
};

/* The root of the text of a file. NULL: *outcome is MECH_NO_MEMORY, or 1 with one fault at the file
 * and the line. `file` outlives the tree. */
struct mechd_ssp_element *mechd_ssp_parse(const char *text, size_t size, const char *file,
                                          struct mech_arena *arena, struct mech_diag *diag,
                                          int *outcome);

/* Whether it is the element of that name. NULL: it is not. */
bool mechd_ssp_is(const struct mechd_ssp_element *e, enum mechd_ssp_space space, const char *name);
/* Its first child of that name, or the next one behind `after`; NULL: there is none. */
const struct mechd_ssp_element *mechd_ssp_child(const struct mechd_ssp_element *e,
                                                enum mechd_ssp_space space, const char *name);
const struct mechd_ssp_element *mechd_ssp_sibling(const struct mechd_ssp_element *after);
/* The attribute, or `otherwise`. */
const char *mechd_ssp_attribute(const struct mechd_ssp_element *e, const char *name,
                                const char *otherwise);

/* A fault at the file of an element, with its line. */
void mechd_ssp_fault(struct mech_diag *diag, const struct mechd_ssp_element *e, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/* Values of attributes. False: a fault; without the attribute *out stays as it is. */
bool mechd_ssp_required(const struct mechd_ssp_element *e, const char *name, struct mech_diag *diag,
                        const char **out);
bool mechd_ssp_number(const struct mechd_ssp_element *e, const char *name, struct mech_diag *diag,
                      double *out);
bool mechd_ssp_bool(const struct mechd_ssp_element *e, const char *name, struct mech_diag *diag,
                    bool *out);
