/* Error codes of the daemon: one list (codes.def) for HTTP, ZeroMQ and the binary frame. */
#pragma once

#define MECHP_CODE(symbol, number, status, text, title) MECHP_##symbol = number,
enum mechp_code {
#include "protocol/wire/codes.def"
};
#undef MECHP_CODE

struct mechp_code_info {
    enum mechp_code code;
    int http_status;
    const char *text;  /* "invalid-model" */
    const char *title; /* the name of its kind of error */
};

/* Info of a code; an unknown number gives INTERNAL. Static storage, any thread. */
const struct mechp_code_info *mechp_code(int number);

/* The code for a solver's outcome (positive) or fatal value (negative). */
enum mechp_code mechp_code_of_outcome(int outcome);

/* The i-th code in the list, or NULL past its end. */
const struct mechp_code_info *mechp_code_at(int i);
