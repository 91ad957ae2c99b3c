/* Models of any items, generated from the field tables alone: a type that is added to a registry is
 * in the next documents without a line here.
 *
 * A document grows by units: an item of any type with the items that it refers to, where no item
 * that is there fits. A unit stays when the document with it is accepted (mech_sim_check); else it
 * is mended at the places that the refusal names, or undone and another is tried. So most documents
 * are valid without any knowledge of a type; a share of them is then broken on purpose.
 *
 * The same numbers of the source give the same documents: it is a seed, or bytes of a fuzzer.
 * owner: one thread. */
#pragma once

#include "solver/items/document.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GENERATE_HINTS = 6 };

struct generate {
    uint64_t state;       /* of the generator of a seed (splitmix64) */
    const uint8_t *bytes; /* NULL: the seed; else these come first, and zeros follow */
    size_t left;
    json_t *document;               /* that grows */
    int32_t size;                   /* of vectors and matrices of the present unit, mostly */
    uint32_t hints[GENERATE_HINTS]; /* [hint_count] sizes that a refusal names */
    uint32_t hint_count;
    int depth;                           /* of items made for items */
    int serial;                          /* names given */
    char wanted[40];                     /* node that new references name, mostly; "": any */
    const struct mech_item_type *prefer; /* where a type of its category is drawn; NULL: none */
    bool wild;                           /* numbers of any size */
};

struct generate generate_of_seed(uint64_t seed);
struct generate generate_of_bytes(const uint8_t *bytes, size_t size);

uint64_t generate_next(struct generate *g);
/* 0 … below − 1. */
uint32_t generate_below(struct generate *g, uint32_t below);
/* True in `percent` of 100. */
bool generate_often(struct generate *g, uint32_t percent);
/* A number of everyday size, or, when wild, one of any size. */
double generate_real(struct generate *g);
double generate_wild(struct generate *g);

/* An accepted model that holds an item of `focus` where that can be had; NULL: any. The caller
 * decrefs. NULL: no memory. */
json_t *generate_model(struct generate *g, const struct mech_item_type *focus);
/* Change one to three values of a JSON tree: other types, huge or denormal numbers, names that
 * dangle or stand twice, keys that are missing or unknown, arrays that are empty or too long. */
void generate_break(struct generate *g, json_t *tree);

/* Whether a model is accepted by the reader and the checks. */
bool generate_accepted(const json_t *model);
/* How many items of that type a model holds, nested ones too. */
int generate_count(json_t *model, const struct mech_item_type *type);

/* A problem that stands alone, as POST /v1/problems/solve takes it. */
json_t *generate_problem(struct generate *g);

/* A shape of any type that has a volume, about as large as 0.1 m. */
json_t *generate_shape(struct generate *g);
