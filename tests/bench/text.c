/* Numbers as JSON: 100,000 of full length written and read, against the bare calls below them in
 * the same run: std::to_chars for each number, and jansson without the guard in front of it.
 */
#include "protocol/wire/text.h"
#include "protocol/wire/json.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100000, ROOM = 33 };

struct numbers {
    double x[N];
    char text[N * ROOM]; /* of the floor */
    struct mechp_text w; /* keeps its room between units */
};

struct document {
    const char *bytes;
    size_t size;
};

/* one unit is the array, as a reply has it */
static void write_array(void *context, uint64_t count)
{
    struct numbers *const n = context;
    for (uint64_t i = 0; i < count; i++) {
        n->w.length = 0;
        n->w.comma[0] = false;
        mechp_text_numbers(&n->w, n->x, N);
    }
    if (n->w.failed) {
        exit(2);
    }
}

static void write_bare(void *context, uint64_t count)
{
    struct numbers *const n = context;
    for (uint64_t i = 0; i < count; i++) {
        size_t at = 0;
        for (size_t k = 0; k < N; k++) {
            at += mechp_number_text(n->x[k], n->text + at);
        }
    }
    bench_use(n->x);
}

/* what a program without to_chars would call: for information */
static void write_printf(void *context, uint64_t count)
{
    struct numbers *const n = context;
    for (uint64_t i = 0; i < count; i++) {
        size_t at = 0;
        for (size_t k = 0; k < N; k++) {
            at += (size_t)snprintf(n->text + at, ROOM, "%.17g", n->x[k]);
        }
    }
}

static void read_guarded(void *context, uint64_t count)
{
    const struct document *const d = context;
    for (uint64_t i = 0; i < count; i++) {
        struct mechp_json_fault fault;
        json_t *root = NULL;
        if (mechp_json_parse(d->bytes, d->size, NULL, &fault, &root) != 0) {
            (void)fprintf(stderr, "refused: %s\n", fault.text);
            exit(2);
        }
        json_decref(root);
    }
}

static void read_bare(void *context, uint64_t count)
{
    const struct document *const d = context;
    for (uint64_t i = 0; i < count; i++) {
        json_t *const root = json_loadb(d->bytes, d->size, JSON_REJECT_DUPLICATES, NULL);
        if (root == NULL) {
            exit(2);
        }
        json_decref(root);
    }
}

int main(int argc, char **argv)
{
    bench_begin("text", argc, argv);
    struct numbers *const n = calloc(1, sizeof *n);
    if (n == NULL) {
        return 2;
    }
    // 17 digits each, of all the sizes that states have
    for (size_t k = 0; k < N; k++) {
        n->x[k] = sin(1. + (double)k) * exp2((double)(k % 40) - 20.);
    }
    mechp_text_init(&n->w, NULL, 0);
    write_array(n, 1);
    const struct document d = {.bytes = n->w.bytes, .size = n->w.length};
    char *const copy = malloc(d.size);
    if (copy == NULL) {
        return 2;
    }
    memcpy(copy, d.bytes, d.size);
    struct document read = {.bytes = copy, .size = d.size};

    bench_compare("write 100,000 / bare to_chars", write_array, n, write_bare, n);
    bench_beside("write 100,000 / snprintf", write_array, n, write_printf, n);
    bench_compare("read 100,000, guarded / bare jansson", read_guarded, &read, read_bare, &read);
    mechp_text_fini(&n->w);
    free(copy);
    free(n);
    return bench_end();
}
