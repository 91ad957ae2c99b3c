/* Options that are keys of a request: name, type, range, words and text are those of the rows of
 * routes (protocol/wire/row.h). The members of a command's body and the names of its query become
 * options by themselves, in the order of the row; a line of the command's own table with the same
 * key gives one another name, argument or text. Behind them are the lines without a key.
 *
 *   {"expectTime", "number", "the step is refused unless …"}   --expect-time NUMBER  the step is …
 *   {"contacts", "'active'|'all'", "Which rows."}              --contacts CONTACTS  which rows;
 *                                                              CONTACTS is active or all
 */
#include "clients/cli/cli.h"

#include "solver/base/text.h"
#include "solver/base/words.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, NAME = 40, DOC = 640, WORDS_OF_RANGE = 8 };

/* What an option gives. */
enum kind { NESTED, NUMBER, SWITCH, TEXT, WORD, LIST, TEXTS };

static bool is_type(const char *type, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(type, name, length) == 0;
}

/* By the first of the types of the key. */
static enum kind kind_of(const char *type)
{
    const size_t n = strcspn(type, "|"), first = strcspn(type, " |");
    return is_type(type, n, "boolean")                                         ? SWITCH
           : is_type(type, first, "number") || is_type(type, first, "integer") ? NUMBER
           : is_type(type, n, "string") || is_type(type, n, "@Name")           ? TEXT
           : *type == '\''                                                     ? WORD
           : is_type(type, n, "string{}")                                      ? TEXTS
           : is_type(type, n, "string[]") || is_type(type, n, "@Name[]")       ? LIST
                                                                               : NESTED;
}

/* "expectTime" as "expect-time", or in capitals as "EXPECT-TIME". */
static void write_name(char out[NAME], const char *key, bool capitals)
{
    size_t n = 0;
    for (; *key && n + 2 < NAME; key++) {
        if (isupper((unsigned char)*key)) {
            out[n++] = '-';
        }
        out[n++] = (char)(capitals ? toupper((unsigned char)*key) : tolower((unsigned char)*key));
    }
    out[n] = '\0';
}

/* The bounds of a type such as "integer 1..9|null"; false: it has none. `most` may be empty. */
static bool bounds_of(const char *type, char least[NAME], char most[NAME])
{
    const size_t n = strcspn(type, "|");
    const char *const blank = memchr(type, ' ', n), *const dots = strstr(type, "..");
    if (kind_of(type) != NUMBER || !blank || !dots || dots >= type + n) {
        return false;
    }
    snprintf(least, NAME, "%.*s", (int)(dots - blank - 1), blank + 1);
    snprintf(most, NAME, "%.*s", (int)(type + n - dots - 2), dots + 2);
    return true;
}

bool mechctl_add_words(const char *type, const char *between, struct mechc_bytes *out)
{
    char least[NAME], most[NAME];
    if (!type) {
        return false;
    }
    if (kind_of(type) == WORD) {
        size_t n = 0;
        const char *joint = "";
        for (const char *at = mechp_type_next(type, &n); at; at = mechp_type_next(at + n + 1, &n)) {
            mechc_bytes_text(out, joint);
            mechc_bytes_add(out, at, n);
            joint = between;
        }
        return true;
    }
    if (strncmp(type, "integer", 7) != 0 || !bounds_of(type, least, most) || !*most) {
        return false;
    }
    const long first = strtol(least, NULL, 10), last = strtol(most, NULL, 10);
    for (long k = first; last - first < WORDS_OF_RANGE && k <= last; k++) {
        mechc_bytes_text(out, k > first ? between : "");
        mechc_bytes_number(out, (double)k);
    }
    return last - first < WORDS_OF_RANGE;
}

/* Whether a text says what a word means: "kept (default): positions remain". */
static bool explains(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        if (at[n] == ':' || strncmp(at + n, " (", 2) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether it says so of all words of a type. */
static bool explains_all(const char *text, const char *type)
{
    size_t n = 0;
    for (const char *at = mechp_type_next(type, &n); at; at = mechp_type_next(at + n + 1, &n)) {
        char word[NAME];
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        if (!explains(text, word)) {
            return false;
        }
    }
    return true;
}

/* A range or the words of a type behind a text. Bounds that are there against overflow alone say
 * nothing. */
static void write_choice(char *out, size_t size, const struct mechctl_option *o, const char *text)
{
    char least[NAME], most[NAME], words[DOC];
    const enum kind kind = kind_of(o->type);
    if (bounds_of(o->type, least, most) && *most && strlen(most) < 7 && !strchr(most, 'e')) {
        const bool two = strncmp(o->type, "integer", 7) == 0 &&
                         strtol(most, NULL, 10) - strtol(least, NULL, 10) == 1;
        snprintf(out, size, ", %s %s %s", least, two ? "or" : "to", most);
    } else if (kind == WORD && !explains_all(text, o->type)) {
        snprintf(out, size, "; %s is %s", o->argument,
                 mechp_type_words(o->type, words, sizeof words));
    } else if (kind == TEXTS && !strchr(text, ',')) {
        mech_text_format(out, size, ", several separated by commas");
    }
}

/* The text of a key for people who read options: without the period of a sentence, the marks of
 * names, and what `true` and `null` mean; then what can be given. */
static void write_doc(char out[DOC], const struct mechctl_option *o)
{
    static const char by_switch[] = "true: ";
    const char *text = o->doc;
    if (kind_of(o->type) == SWITCH && strncmp(text, by_switch, sizeof by_switch - 1) == 0) {
        text += sizeof by_switch - 1;
    }
    const char *const null = strstr(text, "; null: ");
    size_t n = 0;
    for (; *text && text != null && n + 1 < DOC; text++) {
        if (*text != '`') {
            out[n++] = *text;
        }
    }
    n -= n > 0 && out[n - 1] == '.';
    out[n] = '\0';
    if (isupper((unsigned char)out[0]) && !isupper((unsigned char)out[1])) {
        out[0] = (char)tolower((unsigned char)out[0]);
    }
    if (o->argument) {
        write_choice(out + n, DOC - n, o, out);
    }
}

/* The key of a shape or of the query of a row: type and text, NULL: there is none. */
static const char *find_key(const struct mechp_shape *shape, const struct mechp_parameter *query,
                            const char *key, const char **doc)
{
    for (const struct mechp_member *m = shape ? shape->members : NULL; m && m->name; m++) {
        if (strcmp(m->name, key) == 0) {
            *doc = m->doc;
            return m->type;
        }
    }
    for (const struct mechp_parameter *p = query; p && p->name; p++) {
        if (strcmp(p->name, key) == 0) {
            *doc = p->doc;
            return p->type;
        }
    }
    return NULL;
}

/* The options of one command, complete. */
struct table {
    const struct mechctl_command *command;
    struct mechctl_option options[MOST + 1]; /* [count] */
    char names[MOST][NAME], arguments[MOST][NAME], docs[MOST][DOC], types[MOST][DOC];
    int count;
};

/* The type with the words of the same key of another route behind its own. */
static const char *join(char out[DOC], const char *type, const struct mechctl_option *o)
{
    const char *const more = o->also ? mechp_key_type(o->also, o->key) : NULL;
    if (!more) {
        return type;
    }
    size_t used = (size_t)snprintf(out, DOC, "%s", type), n = 0;
    for (const char *at = mechp_type_next(more, &n); at; at = mechp_type_next(at + n + 1, &n)) {
        char word[NAME];
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        if (mechp_type_word(type, word) < 0 && used < DOC) {
            used += (size_t)snprintf(out + used, DOC - used, "|'%s'", word);
        }
    }
    return out;
}

/* An option of this key; its other members, where they are not given, are those of the key. */
static void add(struct table *t, struct mechctl_option o, const char *type, const char *doc)
{
    const int k = t->count;
    assert(k < MOST);
    if (k == MOST) {
        return; // of a release build, which does not ask
    }
    o.type = join(t->types[k], type, &o);
    if (!o.name) {
        write_name(t->names[k], o.key, false);
        o.name = t->names[k];
    }
    if (!o.argument && !o.apart && type && kind_of(type) != SWITCH) {
        static const char *const usual[] = {[NESTED] = "JSON",
                                            [NUMBER] = "NUMBER",
                                            [TEXT] = "TEXT",
                                            [LIST] = "A,B",
                                            [TEXTS] = "NAME=VALUE"};
        const enum kind kind = kind_of(type);
        write_name(t->arguments[k], o.key, true);
        o.argument = kind == WORD                       ? t->arguments[k]
                     : strncmp(type, "integer", 7) == 0 ? "N"
                     : strncmp(type, "@Name", 6) == 0   ? "NAME"
                                                        : usual[kind];
    }
    if (!o.doc) {
        o.doc = doc;
    }
    if (type) {
        write_doc(t->docs[k], &o);
        o.doc = t->docs[k];
    }
    t->options[t->count++] = o;
}

/* Whether a line is of a key of the command's own rows. */
static bool is_of_rows(const struct mechctl_option *o)
{
    return o->key && !o->of && !o->row;
}

static const struct mechctl_option *line_of(const struct mechctl_command *c, const char *key)
{
    for (const struct mechctl_option *o = c->options; o && (o->name || o->key); o++) {
        if (is_of_rows(o) && strcmp(o->key, key) == 0) {
            return o;
        }
    }
    return NULL;
}

static void add_key(struct table *t, const char *key, const char *type, const char *doc)
{
    const struct mechctl_option *const line = line_of(t->command, key);
    if (line) {
        add(t, *line, type, doc);
    } else if (kind_of(type) != NESTED && !mechctl_is_listed(t->command->without, key)) {
        add(t, (struct mechctl_option){.key = key}, type, doc);
    }
}

const struct mechctl_option *mechctl_options(const struct mechctl_command *c)
{
    static struct table t;
    if (t.command == c) {
        return t.options;
    }
    t.command = c;
    t.count = 0;
    const struct mechp_shape *const body = c->body ? c->body->body : NULL;
    for (const struct mechp_member *m = body ? body->members : NULL; m && m->name; m++) {
        const char *doc = m->doc; // that of the query, where it is a name of both
        (void)find_key(NULL, c->query ? c->query->query : NULL, m->name, &doc);
        add_key(&t, m->name, m->type, doc);
    }
    for (const struct mechp_parameter *p = c->query ? c->query->query : NULL; p && p->name; p++) {
        const char *doc = NULL;
        if (!find_key(body, NULL, p->name, &doc)) {
            add_key(&t, p->name, p->type, p->doc);
        }
    }
    for (const struct mechctl_option *o = c->options; o && (o->name || o->key); o++) {
        const struct mechp_shape *const of = o->of ? o->of : o->row ? o->row->body : NULL;
        const char *doc = NULL;
        const char *const type =
            o->key ? find_key(of, o->row ? o->row->query : NULL, o->key, &doc) : NULL;
        if (!is_of_rows(o)) {
            add(&t, *o, type, doc);
        }
    }
    t.options[t.count] = (struct mechctl_option){0};
    return t.options;
}

static const char *words_type(const struct mechctl_words *w)
{
    return w->row ? mechp_key_type(w->row, w->key) : w->type;
}

const char *mechctl_type_of(const struct mechctl_command *c, const char *argument, size_t length)
{
    for (const struct mechctl_words *w = c->words; w && w->argument; w++) {
        if (is_type(argument, length, w->argument)) {
            return words_type(w);
        }
    }
    return NULL;
}

void mechctl_tell_words(const struct mechctl_words *w, struct mechc_bytes *out)
{
    char words[DOC];
    mechc_bytes_text(out, w->argument);
    mechc_bytes_text(out, " is ");
    mechc_bytes_text(out, mechp_type_words(words_type(w), words, sizeof words));
}

/* --- requests --------------------------------------------------------------------------------- */

/* A comma, unless it is the first member of an object. */
static void separate(struct mechc_bytes *b)
{
    if (!b->failed && b->length > 0 && b->at[b->length - 1] != '{') {
        mechc_bytes_text(b, ",");
    }
}

/* {…} from a list of words. */
static int add_texts(const char *option, const char *list, struct mechc_bytes *b)
{
    char *const copy = mechc_copy(list);
    char *at = copy;
    struct mech_word word;
    const char *why = "out of memory";
    int code = copy ? 1 : -1;
    mechc_bytes_text(b, "{");
    while (code > 0 && (code = mech_word_next(&at, &word, &why)) > 0) {
        separate(b);
        mechc_bytes_string(b, word.name);
        mechc_bytes_text(b, ":");
        mechc_bytes_string(b, word.value ? word.value : "");
    }
    mechc_bytes_text(b, "}");
    free(copy);
    return code < 0 ? mechctl_usage("--%s: %s", option, why) : MECHCTL_DONE;
}

static int add_value(struct mechctl *m, const struct mechctl_option *o, const char *value)
{
    struct mechc_bytes *const b = &m->body;
    const enum kind kind = kind_of(o->type);
    double number = 0.;
    int code = MECHCTL_DONE;
    if (kind == NUMBER) {
        code = mechctl_number(m, o->name, &number);
        mechc_bytes_number(b, number);
    } else if (kind == SWITCH) {
        mechc_bytes_text(b, "true");
    } else if (kind == TEXT || kind == WORD) {
        mechc_bytes_string(b, value);
    } else if (kind == TEXTS) {
        code = add_texts(o->name, value, b);
    } else {
        code = mechctl_add_items(o->name, value, b);
    }
    return code;
}

int mechctl_add_keys(struct mechctl *m, const struct mechp_shape *of)
{
    const struct mechp_row *const row = m->command->body;
    const struct mechp_shape *const own = row ? row->body : NULL;
    int code = MECHCTL_DONE;
    for (const struct mechctl_option *o = mechctl_options(m->command);
         o->name && code == MECHCTL_DONE; o++) {
        const char *const value = mechctl_option(m, o->name);
        const char *doc = NULL;
        if (value && o->key && !o->apart && !o->row && o->of == of &&
            find_key(of ? of : own, NULL, o->key, &doc)) {
            separate(&m->body);
            mechc_bytes_string(&m->body, o->key);
            mechc_bytes_text(&m->body, ":");
            code = add_value(m, o, value);
        }
    }
    return code;
}

int mechctl_query_keys(const struct mechctl *m, char *path, size_t size)
{
    for (const struct mechctl_option *o = mechctl_options(m->command); o->name; o++) {
        const char *const value = mechctl_option(m, o->name);
        const char *doc = NULL;
        if (value && o->key && !o->apart && !o->of && !o->row && m->command->query &&
            find_key(NULL, m->command->query->query, o->key, &doc)) {
            mechctl_query(path, size, o->key, o->argument ? value : "true");
        }
    }
    return *path == '\0' ? mechctl_usage("the options are too long") : MECHCTL_DONE;
}
