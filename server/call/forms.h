/* Formats of an answer: selection by the request, and writing bytes in it.
 *
 * A route specifies its formats as a mask; the query's `format` decides, else Accept (RFC 9110,
 * 12.5.1: the closest range counts; of equal quality the one named most closely, then the first of
 * this list), else JSON.
 */
#pragma once

#include "server/call/call.h"

enum mechd_form {
    MECHD_FORM_JSON,
    MECHD_FORM_NDJSON,
    MECHD_FORM_CSV,
    MECHD_FORM_NPY, /* NumPy's format, version 1 or 2 */
    MECHD_FORM_F64, /* float64, little-endian, nothing else */
    MECHD_FORM_MTX,
    MECHD_FORM_COO1,
    MECHD_FORM_ARCHIVE,
    MECHD_FORMS
};

/* 1 << form of those that hold a table (server/call/rows.h), JSON among them. */
extern const unsigned mechd_forms_of_rows;

#define MECHD_TYPE_NPY "application/x-npy"
#define MECHD_TYPE_F64 "application/octet-stream"

/* The requested form, among those in `mask` (1 << form), of which JSON is one. −1: refused. */
int mechd_form(struct mechd_call *c, unsigned mask);
/* Whether Accept wants the media type `one` more than `other`; without Accept it wants none. */
bool mechd_form_prefers(const struct mechd_call *c, const char *one, const char *other);
/* Bytes as the whole answer, in a form that is not JSON. */
void mechd_form_answer(struct mechd_call *c, enum mechd_form form, const char *bytes, size_t size);
/* True, and the answer is of this form; otherwise refused: forms other than JSON are available over
 * HTTP only. */
bool mechd_form_begin(struct mechd_call *c, enum mechd_form form);
