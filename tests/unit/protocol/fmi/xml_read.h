/* XML for tests: a strict reader of what XML 1.0 has for documents without text, comments and
 * entities of their own; everything else is a failed check. The caller frees with xml_fini.
 *
 *     struct xml x = xml_of(text, length);
 *     for (size_t i = 0; i < x.n; i++) … x.at[i].name, xml_get(&x.at[i], "unit") …
 */
#pragma once

#include "tests/unit/unit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { XML_DEPTH = 16, XML_ATTRIBUTES = 24 };

struct xml_element {
    const char *name, *parent; /* parent "" of the root */
    int depth;
    size_t attributes;
    const char *key[XML_ATTRIBUTES], *value[XML_ATTRIBUTES];
};

struct xml {
    char *text; /* names and values point into it */
    struct xml_element *at;
    size_t n, room;
};

/* The value of an attribute, or NULL. */
static inline const char *xml_get(const struct xml_element *e, const char *key)
{
    for (size_t i = 0; i < e->attributes; i++) {
        if (strcmp(e->key[i], key) == 0) {
            return e->value[i];
        }
    }
    return NULL;
}

/* A name, ended by NUL in place; the character behind it is returned in *next. */
static inline char *xml_word(char **at, char *next)
{
    char *const word = *at;
    while (isalnum((unsigned char)**at)) {
        ++*at;
    }
    CU_ASSERT_FATAL(*at > word);
    *next = **at;
    **at = '\0';
    ++*at;
    return word;
}

/* Entities in place. */
static inline void xml_unescape(char *value)
{
    static const char *const entities[][2] = {{"&amp;", "&"},   {"&lt;", "<"},  {"&gt;", ">"},
                                              {"&quot;", "\""}, {"&#9;", "\t"}, {"&#10;", "\n"},
                                              {"&#13;", "\r"}};
    char *to = value;
    for (const char *c = value; *c; to++) {
        size_t used = 1;
        *to = *c;
        CU_ASSERT(*c != '<' && (unsigned char)*c >= 0x20);
        for (size_t i = 0; *c == '&' && i < sizeof entities / sizeof *entities; i++) {
            if (strncmp(c, entities[i][0], strlen(entities[i][0])) == 0) {
                *to = entities[i][1][0];
                used = strlen(entities[i][0]);
            }
        }
        CU_ASSERT(*c != '&' || used > 1);
        c += used;
    }
    *to = '\0';
}

/* Attributes up to the end of the tag; true: it is closed by "/>". */
static inline bool xml_attributes(char **at, char next, struct xml_element *e)
{
    while (next == ' ') {
        CU_ASSERT_FATAL(e->attributes < XML_ATTRIBUTES);
        char *const key = xml_word(at, &next);
        CU_ASSERT_FATAL(next == '=' && **at == '"');
        CU_ASSERT_PTR_NULL(xml_get(e, key));
        char *const value = ++*at, *const end = strchr(value, '"');
        CU_ASSERT_FATAL(end != NULL);
        *end = '\0';
        xml_unescape(value);
        e->key[e->attributes] = key;
        e->value[e->attributes++] = value;
        *at = end + 1;
        next = *(*at)++;
    }
    if (next == '/') {
        CU_ASSERT_FATAL(**at == '>');
        ++*at;
        return true;
    }
    CU_ASSERT_FATAL(next == '>');
    return false;
}

static inline struct xml xml_of(const char *bytes, size_t length)
{
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    struct xml x = {.text = calloc(1, length + 1), .room = 1};
    const char *open[XML_DEPTH] = {""};
    int depth = 0;

    CU_ASSERT_FATAL(x.text != NULL && length >= sizeof declaration);
    memcpy(x.text, bytes, length);
    CU_ASSERT_EQUAL(strncmp(x.text, declaration, sizeof declaration - 1), 0);
    for (const char *c = x.text; *c; c++) {
        x.room += *c == '<';
    }
    x.at = calloc(x.room, sizeof *x.at);
    CU_ASSERT_FATAL(x.at != NULL);
    char *at = x.text + sizeof declaration - 1;
    for (;;) {
        at += strspn(at, " \n");
        if (*at == '\0') {
            break;
        }
        CU_ASSERT_FATAL(*at == '<');
        char next;
        if (*++at == '/') {
            at++;
            const char *const name = xml_word(&at, &next);
            CU_ASSERT_FATAL(next == '>' && depth > 0);
            CU_ASSERT_STRING_EQUAL(name, open[depth]);
            depth--;
            continue;
        }
        struct xml_element *const e = &x.at[x.n++];
        e->name = xml_word(&at, &next);
        e->parent = open[depth];
        e->depth = depth;
        /* one root */
        CU_ASSERT(depth > 0 || x.n == 1);
        if (!xml_attributes(&at, next, e)) {
            CU_ASSERT_FATAL(depth + 1 < XML_DEPTH);
            open[++depth] = e->name;
        }
    }
    CU_ASSERT_EQUAL(depth, 0);
    return x;
}

static inline void xml_fini(struct xml *x)
{
    free(x->text);
    free(x->at);
}
