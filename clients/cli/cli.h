/* mechctl: what its commands share. A command is one file under commands/ and one line of
 * commands.def; it gets its arguments parsed, talks through libmechc and prints.
 *
 *   static int run(struct mechctl *m)
 *   {
 *       struct mechc_json reply;
 *       const int exit_code = mechctl_get(m, MECHCTL_PATH("v1", "instances"), &reply);
 *       …
 *   }
 *   const struct mechctl_command mechctl_list = {.name = "list", …, .run = run};
 */
#pragma once

#include "clients/c/bytes.h"
#include "clients/c/mechc.h"
#include "clients/c/scan.h"
#include "protocol/wire/row.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

/* The program's exit codes. */
enum mechctl_exit {
    MECHCTL_DONE = 0,
    MECHCTL_REFUSED = 1,     /* the server refused: the reason is on stderr */
    MECHCTL_USAGE = 2,       /* the command line is not understood, or a file cannot be read */
    MECHCTL_UNREACHABLE = 3, /* no server there, or no answer in time */
    MECHCTL_FAILED = 4, /* a reply that makes no sense, no memory, output that cannot be written */
    MECHCTL_LATER       /* no exit code: a repetition may succeed (struct mechctl, patient) */
};

/* An option of a command: "--size NUMBER". In the table of a command it is of mechctl alone, or
 * with `key` a key of a request, from whose row what is not given here is taken (keys.c). */
struct mechctl_option {
    const char *name;     /* without the dashes */
    const char *argument; /* what follows, in capitals; NULL: a switch, with `key` by its type */
    const char *doc;
    const char *key;              /* NULL: none; an option without name and key closes the list */
    const struct mechp_shape *of; /* body whose key it is; NULL: one of the command's rows */
    const struct mechp_row *row;  /* route whose key it is, in place of the command's */
    const struct mechp_row *also; /* route that has further words for the key, or NULL */
    bool apart;       /* the command sends the key itself, if at all: the option has another form */
    const char *type; /* that of the key (row.h); not in the table of a command */
};

/* One of mechctl alone. */
#define MECHCTL_OPTION(its_name, its_argument, its_doc)                                            \
    {                                                                                              \
        .name = (its_name), .argument = (its_argument), .doc = (its_doc)                           \
    }

/* An option of the command as it was given. */
struct mechctl_given {
    const char *name; /* [length] */
    int length;
    bool alone;        /* without a value: a switch */
    const char *value; /* "" for a switch */
};

/* What an argument of the command may be: for help and completion, and for the command itself. */
struct mechctl_words {
    const char *argument;        /* as in the usage: "LEVEL"; NULL closes the list */
    const struct mechp_row *row; /* the words are those of a key of this route, */
    const char *key;
    const char *type; /* or without a row these: "'docs'|'livez'" */
};

struct mechctl;

/* What a command is about: help lists the commands by these, in this order. */
enum mechctl_group {
    MECHCTL_MODELS,
    MECHCTL_STEPS,
    MECHCTL_RUNS,
    MECHCTL_ANALYSES,
    MECHCTL_MANY,
    MECHCTL_SERVER,
    MECHCTL_GROUPS
};

struct mechctl_command {
    const char *name;
    enum mechctl_group group;
    const char *arguments;         /* "ID [NAME=VALUE ...]" */
    const char *summary;           /* one line, lower case */
    const char *details;           /* for help; may be NULL */
    const struct mechp_row *body;  /* the members of its body are options, or NULL */
    const struct mechp_row *query; /* likewise the names of its query */
    const char *without;           /* "role name": but for these, which are no options; or NULL */
    const struct mechctl_option *options; /* further ones, closed by an empty one; or NULL */
    const struct mechctl_words *words;    /* closed by an empty one; or NULL */
    const char *synonyms;                 /* "ls ps": words that propose it; or NULL */
    int least, most;                      /* arguments; most -1: any number */
    int (*run)(struct mechctl *m);
};

/* One invocation. owner: main. */
struct mechctl {
    struct mechc *c;
    const struct mechctl_command *command;
    char **arguments; /* [count] positional */
    int count;
    struct mechctl_given *given; /* [given_count], in their order; owned */
    int given_count;
    const char *server;
    const char *lane;        /* --lane: requests go there as JSON; NULL: over HTTP */
    const char *token, *ca;  /* --token, --ca; NULL: those of the environment */
    double timeout;          /* --timeout, s */
    bool json;               /* --json: print the server's JSON, for scripts */
    bool patient;            /* 429, 5xx and no answer in time are MECHCTL_LATER */
    bool colour;             /* stdout is a terminal that may be coloured */
    const char *file;        /* file that the request came from, for its errors; or NULL */
    const char *prefix;      /* pointer prefix that denotes the file's root */
    int lead;                /* bytes before the file in the body */
    struct mechc_bytes body; /* of the next request */
    struct mechc_bytes held; /* a reply that outlives the next request */
};

/* All commands, sorted, closed by NULL (main.c). */
extern const struct mechctl_command *const mechctl_commands[];
const struct mechctl_command *mechctl_find(const char *name);
/* Reports that a word is no command, and which one was probably meant: by the commands' synonyms,
 * else by the spelling. Returns MECHCTL_USAGE. */
int mechctl_no_command(const char *word);
/* Options of every command, closed by an empty one. */
extern const struct mechctl_option mechctl_global_options[];
/* What the exit codes mean, by code; closed by NULL. */
extern const char *const mechctl_exits[];
/* The manual page mechctl.1 (manual.c). */
int mechctl_print_manual(void);
/* The completion script of fish on standard output (fish.c). */
void mechctl_print_fish(void);
void mechctl_print_help(const struct mechctl_command *command); /* NULL: of the program */

/* --- options that are keys of requests (keys.c) ----------------------------------------------- */

/* All options of a command, closed by one without a name; valid until those of another command are
 * asked for. */
const struct mechctl_option *mechctl_options(const struct mechctl_command *c);
/* Append to the body of the request the members whose options are given: those of the command's
 * rows (NULL), or of a shape within it. MECHCTL_DONE or MECHCTL_USAGE. */
int mechctl_add_keys(struct mechctl *m, const struct mechp_shape *of);
/* Append to a path the names of the command's query whose options are given. Returns likewise. */
int mechctl_query_keys(const struct mechctl *m, char *path, size_t size);
/* Append the words of a type, or the numbers of a short range; false: it has none. */
bool mechctl_add_words(const char *type, const char *between, struct mechc_bytes *out);
/* The type of what an argument of the command may be, or NULL: anything. */
const char *mechctl_type_of(const struct mechctl_command *c, const char *argument, size_t length);
/* Append "LEVEL is a, b or c". */
void mechctl_tell_words(const struct mechctl_words *w, struct mechc_bytes *out);

/* --- arguments (arguments.c) ------------------------------------------------------------------ */

/* Whether a word is one of a list with blanks between, or NULL. */
bool mechctl_is_listed(const char *list, const char *word);

/* Parse the whole command line. MECHCTL_DONE, or MECHCTL_USAGE with the reason printed. *help: help
 * was asked for; *version likewise. */
int mechctl_parse(struct mechctl *m, int argc, char **argv, bool *help, bool *version);
/* A handle for this server (NULL: as m->c), with the token and time limit of m->c, and without a
 * lease. MECHCTL_DONE, or another exit code with the reason printed; *out is the caller's to close,
 * also then. */
int mechctl_open(struct mechctl *m, const char *server, struct mechc **out);
/* A handle for the server of --on (none: as m->c), with the token of --on-token, or for another
 * server than m->c's that of MECHD_ON_TOKEN: the token of m->c goes to no other one
 * (commands/replay.c). Returns as mechctl_open. */
int mechctl_open_on(struct mechctl *m, struct mechc **out);
/* The value of an option of the command, or NULL. */
const char *mechctl_option(const struct mechctl *m, const char *name);
/* The number in an option: MECHCTL_DONE (unchanged if it was not given) or MECHCTL_USAGE. */
int mechctl_number(const struct mechctl *m, const char *name, double *out);
/* Append {"a":1,"b":[1,2]} from arguments NAME=VALUE[,VALUE ...] beginning with the first-th. */
int mechctl_assignments(struct mechctl *m, int first, struct mechc_bytes *out);
/* An array of strings from the list of an option (solver/base/words.h). MECHCTL_DONE or USAGE. */
int mechctl_add_items(const char *option, const char *list, struct mechc_bytes *b);
/* Begin a body with the member "example" of that name, or without one "model", the file of the
 * first argument; where there is no such file, but an example of that name, --example is named.
 * MECHCTL_DONE or MECHCTL_USAGE. */
int mechctl_add_model(struct mechctl *m, const char *example);
/* Begin a body with that member, the file of the first argument; `place` is the pointer to it.
 * MECHCTL_DONE or MECHCTL_USAGE. */
int mechctl_add_document(struct mechctl *m, const char *key, const char *place);
/* Begin a body with the member "snapshot", the file as base64. MECHCTL_DONE or MECHCTL_USAGE. */
int mechctl_add_snapshot(struct mechctl *m, const char *path);
/* Send the bytes of a file, of that media type, with POST; the id that the reply has is printed.
 * MECHCTL_…, printed if it is a failure. */
int mechctl_upload(struct mechctl *m, const char *path, const char *file, const char *type);
/* What a GET of that path answers, into a file as by mechctl_save. Returns as above. */
int mechctl_download(struct mechctl *m, const char *path, const char *file);
/* A whole file ("-": stdin) appended. MECHCTL_DONE or MECHCTL_USAGE. */
int mechctl_read_file(const char *path, struct mechc_bytes *out);
/* The same; MECHCTL_USAGE: it is empty, too. */
int mechctl_read_content(const char *path, struct mechc_bytes *out);
/* The same for a file of JSON: without a mark of UTF-8 in front. MECHCTL_USAGE: UTF-16 too. */
int mechctl_read_json(const char *path, struct mechc_bytes *out);
/* A text has nothing but blanks, or a mark of UTF-8 and blanks. */
bool mechctl_is_blank(const char *text, size_t size);
/* "-": stdout. MECHCTL_DONE, MECHCTL_USAGE, or what mechctl_flush returns. */
int mechctl_write_file(const char *path, const void *bytes, size_t size);
/* The same, and with a file the line "FILE: N bytes", without --json. */
int mechctl_save(const struct mechctl *m, const char *path, const void *bytes, size_t size);

/* --- requests (request.c) --------------------------------------------------------------------- */

/* Calls `handler` on a signal, unless the program was started with that signal ignored: by nohup,
 * in the background of a script. System calls end with EINTR, but for SIGTSTP (Ctrl-Z), after which
 * they go on. Returns what was set for the signal before. */
struct sigaction mechctl_on_signal(int signal, void (*handler)(int));

/* The signals that end a program: of Ctrl-C, of kill, and of a terminal that is closed. */
enum { MECHCTL_ENDS = 3 };
struct mechctl_ends {
    struct sigaction before[MECHCTL_ENDS]; /* what was set for them */
};

/* The same for each of them, and what was set is set again. */
struct mechctl_ends mechctl_on_end(void (*handler)(int));
void mechctl_on_end_restore(const struct mechctl_ends *ends);
/* They wait, while a request makes something whose id only its answer says; its time-out bounds
 * that. What was so before. */
sigset_t mechctl_hold_ends(void);
void mechctl_release_ends(const sigset_t *before);
/* While something is waited for that goes on in the server: they are noted, and end a nap; a second
 * one ends the program at once.
 * mechctl_noted: the one that has come, or 0; it ends the program with mechctl_obey_ends. */
struct mechctl_ends mechctl_note_ends(void);
int mechctl_noted(void);
void mechctl_obey_ends(const struct mechctl_ends *before);

#define MECHCTL_PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The exit code for the result of mechc_call and its reply. Errors are printed: with --json a
 * refusal is the document that the server sent. */
int mechctl_answer(struct mechctl *m, int result, const struct mechc_reply *r);
/* Any request, and mechctl_answer. */
int mechctl_request(struct mechctl *m, const struct mechc_request *r, struct mechc_reply *out);
/* The same over the lane (lane.c): a route without a message there is MECHCTL_USAGE. */
int mechctl_lane_call(struct mechctl *m, const struct mechc_request *r, struct mechc_reply *out);
/* Whether the server has one of that name in this collection ("examples"), over HTTP; nothing is
 * printed. */
bool mechctl_is_there(struct mechctl *m, const char *collection, const char *name);
/* A request; `body` NULL: none. The reply lives until the next request. Errors are printed. */
int mechctl_send(struct mechctl *m, const char *method, const char *const *path,
                 const struct mechc_bytes *body, struct mechc_json *reply);
int mechctl_get(struct mechctl *m, const char *const *path, struct mechc_json *reply);
/* A whole command: a request, and its reply as it came (--json) or laid out. */
int mechctl_print_reply(struct mechctl *m, const char *method, const char *const *path,
                        const struct mechc_bytes *body);
/* A whole command: GET, and its reply as it came (--json) or as a tree. */
int mechctl_show_path(struct mechctl *m, const char *const *path);
/* Append "?key=value" or "&key=value", escaped; NULL: nothing. If it does not fit, the path
 * becomes empty. */
void mechctl_query(char *path, size_t size, const char *key, const char *value);
/* GET of a path with a query, shown as by mechctl_print_reply. */
int mechctl_print_path(struct mechctl *m, const char *path);
/* The second word of the paths of what the command is about: "couplings" with --coupling, or
 * "instances". */
const char *mechctl_kind(const struct mechctl *m);
/* The option itself. */
#define MECHCTL_OF_COUPLING MECHCTL_OPTION("coupling", NULL, "ID is that of a coupling")

/* Wait until a run is over, with a bar on a terminal, and print how it ended (wait.c). A run that
 * failed is MECHCTL_REFUSED. A signal that was noted ends the wait, and the run if it is the
 * program's own; what becomes of it is said. */
int mechctl_wait(struct mechctl *m, const char *id, const char *run, bool own);
/* A run of a coupling once more, here or on the server of --on (replay_coupling.c). */
int mechctl_replay_coupling(struct mechctl *m);

enum { MECHCTL_COPIED = 64 }; /* participants that a coupling may have */

/* A coupling that is made once more on the server of --on (replay_copy.c). */
struct mechctl_copy {
    struct mechctl *m;
    struct mechc *from, *to; /* its own handles, without a lease, of m->c's server and of --on's */
    char ids[MECHCTL_COPIED][MECHC_ID]; /* [count] of its instances there */
    int count;
    char coupling[MECHC_ID]; /* its id there; "": there is none yet */
};
/* Open both handles; MECHCTL_DONE, or another exit code with the reason printed. In any case
 * mechctl_copy_end. */
int mechctl_copy_open(struct mechctl_copy *c, struct mechctl *m);
/* Copy the coupling of this id in the present states of its instances. The scheme begins anew: this
 * is the same coupling only where that has just begun (window 0). Nothing of it remains on m->c's
 * server. Returns as above. */
int mechctl_copy_make(struct mechctl_copy *c, const char *id);
/* Delete what was made there, also after a signal, and close both handles. Returns as above. */
int mechctl_copy_end(struct mechctl_copy *c);
/* The rows of a sweep in this form (commands/sweep.c). */
int mechctl_print_sweep(struct mechctl *m, const char *id, const char *format);
/* Keep a reply beyond the next request (one at a time). */
int mechctl_hold(struct mechctl *m, struct mechc_json *reply);
/* Print the handle's error like a compiler would; the exit code for a libmechc result. */
int mechctl_result(struct mechctl *m, int result);
int mechctl_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- printing (print.c, table.c) -------------------------------------------------------------- */

enum mechctl_ink {
    MECHCTL_PLAIN,
    MECHCTL_BOLD,
    MECHCTL_DIM,
    MECHCTL_RED,
    MECHCTL_GREEN,
    MECHCTL_BLUE
};
/* The terminal's sequence, or "" where colours are off. */
const char *mechctl_ink(const struct mechctl *m, enum mechctl_ink ink);
const char *mechctl_ink_off(const struct mechctl *m);

/* Flush all output. MECHCTL_DONE, or MECHCTL_FAILED with the reason printed, once; no reason where
 * the reader has closed its end (head, grep -q). `errno` is that of the last write, or 0. */
int mechctl_flush(void);

/* A number for people: at most 9 significant digits; returns `out`. */
const char *mechctl_human(double value, char out[32]);
/* A value on one line: numbers for people, strings without quotes, containers in short. */
void mechctl_inline(struct mechc_json value, struct mechc_bytes *out);
/* The text of a string, of any length, and what is behind it; the caller frees. NULL: no memory. */
char *mechctl_text(struct mechc_json string, const char *behind);
/* JSON indented by two, arrays of plain values on one line. */
void mechctl_print_json(struct mechc_json value);
/* "key  value" lines, nested objects indented. */
void mechctl_print_tree(const struct mechctl *m, struct mechc_json object);
/* The reply of a step of an instance or a coupling: a line of its report, then the outputs. */
void mechctl_print_step(const struct mechctl *m, struct mechc_json reply);
/* For --json: the value as it came, and a line end. Returns what mechctl_flush does. */
int mechctl_print_raw(struct mechc_json value);
/* Print the warnings in a reply to stderr in the form of faults: with the place in the model's
 * file, if there is one. */
void mechctl_print_warnings(const struct mechctl *m, struct mechc_json reply);
/* The id that a creation answers with, its warnings to stderr, or with --json all of it; 0. */
int mechctl_print_id(const struct mechctl *m, struct mechc_json reply);
/* A whole command: the values of the instance's collection that the command is named after
 * ("inputs", "outputs"), with units. */
int mechctl_run_values(struct mechctl *m);

struct mechctl_column {
    const char *key;   /* path into each row; "" : the row itself */
    const char *title; /* header */
    bool right;        /* aligned to the right, for numbers */
};
/* Rows of an array of objects; columns that no row has are left out; `none` is said instead of an
 * empty table. Columns are closed by one without a key. On a terminal texts are cut, with "…" at
 * their ends, where a row would not fit the line. */
void mechctl_print_table(const struct mechctl *m, struct mechc_json rows,
                         const struct mechctl_column *columns, const char *none);
/* name, value, unit of each member of an object of values; units may be NULL (a list of variables
 * with name and unit). */
void mechctl_print_values(const struct mechctl *m, struct mechc_json values,
                          const struct mechc_json *variables);
/* The unit of a variable in a list of variables; false: it has none. */
bool mechctl_unit(struct mechc_json variables, const char *name, struct mechc_json *out);
/* Columns that a UTF-8 text takes on a terminal, wide characters not considered. */
int mechctl_width(const char *text);

/* --- pictures that are drawn again and again (picture.c) -------------------------------------- */

/* Columns that a picture may take on the terminal of a file descriptor, or by COLUMNS: all but the
 * last, behind which some go on to the next line. At least 1. */
int mechctl_columns(int descriptor);
/* A bar on standard error, over the one before; left: remaining s, below 0: unknown. */
void mechctl_bar(double fraction, double left);

/* A line of a picture: pieces, until it is full. */
struct mechctl_line {
    const struct mechctl *m; /* for its inks; NULL: plain pieces only */
    FILE *to;
    int left; /* columns */
};
/* A piece that does not fit is cut, or if it is to be `whole` left out. */
void mechctl_piece(struct mechctl_line *l, enum mechctl_ink ink, const char *text, bool whole);
/* Clears what an older picture has left of the line. */
void mechctl_line_end(const struct mechctl_line *l);
