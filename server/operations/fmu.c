/* GET …/fmu: the model as an FMU, with the solver or for a server. The simulation that its
 * description is written from is built for it, so that starts are those of the document and not of
 * the instance's state. A binary is the same in all: it is read and packed at the first one, and
 * its bytes are sent from there. */
#include "server/operations/fmu.h"

#include "protocol/bind/bind.h"
#include "protocol/fmi/results.h"
#include "server/call/query.h"
#include "server/call/service.h"
#include "server/operations/create.h"
#include "server/operations/picture.h"
#include "server/os/beside.h"
#include "solver/base/hash.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 1 << 16,          /* bytes of the binary sent at a time */
    BINARY_MOST = 256 << 20,  /* bytes; linked without shared libraries it has 7 MB */
    DOCUMENT_MOST = 64 << 20, /* bytes that the binary reads, less one */
};

/* What there are binaries for: installed, and as built, of the daemon and of a test that is one. */
enum which { SOLVER, PROXY, WINDOWS, BINARIES };
#define PLACES(name)                                                                               \
    {                                                                                              \
        "../lib/mechd/" name, "../clients/fmu/" name, NULL                                         \
    }
static const char *const places[BINARIES][3] = {PLACES("mechd-model.so"), PLACES("mechd-proxy.so"),
                                                PLACES("mechd-proxy.dll")};

struct exported {
    struct mechp_zip zip;
    const struct mechp_packed *binary;
    size_t sent; /* of its bytes */
    bool ended;  /* the directory has been written */
};

/* --- the binary ------------------------------------------------------------------------------- */

/* set once, by the first of the threads that make it; then constant */
static _Atomic(struct mechp_packed *) the_binaries[BINARIES];

static void *read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    char *bytes = NULL;
    long end = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        end = ftell(file);
    }
    if (end > 0 && end <= BINARY_MOST && fseek(file, 0, SEEK_SET) == 0) {
        bytes = malloc((size_t)end);
        *size = bytes != NULL ? fread(bytes, 1, (size_t)end, file) : 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    if (bytes != NULL && *size != (size_t)end) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* NULL: there is none, or refused. */
static const struct mechp_packed *find_binary(struct mechd_call *c, enum which which)
{
    struct mechp_packed *known = atomic_load(&the_binaries[which]);
    const char *const name = strrchr(places[which][0], '/') + 1;
    char path[4200];
    size_t size = 0;

    if (known != NULL) {
        return known;
    }
    if (!mechd_beside(places[which], path, sizeof path)) {
        // that for Windows is not built everywhere
        if (which != WINDOWS) {
            mechd_fail(c, MECHP_NOT_INSTALLED, "there is no %s where this server is installed",
                       name);
        }
        return NULL;
    }
    void *const bytes = read_file(path, &size);
    struct mechp_packed *const made = calloc(1, sizeof *made);
    if (bytes == NULL || made == NULL || mechp_pack(bytes, size, made) != 0) {
        mechd_fail(c, MECHP_INTERNAL, "%s cannot be read", name);
        free(bytes);
        free(made);
        return NULL;
    }
    free(bytes);
    if (!atomic_compare_exchange_strong(&the_binaries[which], &known, made)) {
        mechp_packed_fini(made);
        free(made);
        return known;
    }
    return made;
}

const struct mechp_packed *mechd_fmu_binary(struct mechd_call *c)
{
    return find_binary(c, SOLVER);
}

/* --- the request ------------------------------------------------------------------------------ */

struct mech_sim *mechd_fmu_build(struct mechd_call *c, const struct mechp_text *document)
{
    struct mechp_json_fault fault;
    json_t *model = NULL;

    if (document->failed) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the model");
        return NULL;
    }
    if (document->length >= DOCUMENT_MOST) {
        mechd_fail(c, MECHP_INVALID_MODEL, "the model has %zu bytes, an FMU less than %d",
                   document->length, DOCUMENT_MOST);
        return NULL;
    }
    if (mechp_json_parse(document->bytes, document->length, &mechp_json_limits_model, &fault,
                         &model) != 0) {
        mechd_fail(c, fault.code, "%s", fault.text);
        return NULL;
    }
    struct mech_sim *const sim = mechd_build(c, model, "/model");
    json_decref(model);
    return sim;
}

/* --- the answer ------------------------------------------------------------------------------- */

/* More of the binary, then the directory, then the end. */
static enum mechd_piece produce(struct mechd_call *c)
{
    struct exported *const x = c->work;
    const size_t left = x->binary->stored - x->sent;
    const size_t n = left < PIECE ? left : PIECE;

    if (x->ended) {
        return MECHD_PIECE_LAST;
    }
    if (n > 0) {
        mechp_text_plain(&c->text, (const char *)x->binary->bytes + x->sent, n);
        x->sent += n;
    } else {
        x->ended = true;
        (void)mechp_zip_end(&x->zip);
    }
    return c->text.failed ? MECHD_PIECE_FAILED : MECHD_PIECE_MORE;
}

static void free_exported(struct mechd_call *c)
{
    free(c->work);
}

bool mechd_fmu_head(struct mechd_call *c, const struct mechp_fmi_content *given,
                    struct mech_sim *sim, struct mechp_zip *zip)
{
    struct mechp_fmi_content content = *given;
    struct mechp_text results;

    mechp_text_init(&results, NULL, 0);
    mech_sim_set_interrupt(sim, mechd_call_ends, c);
    char *picture = NULL;
    int code = mechp_fmi_results(content.version, sim, &results);
    code = code != 0 ? code : mechd_picture(sim, &picture);
    content.sim = sim;
    content.picture = picture;
    content.results = results.bytes;
    content.results_size = results.length;
    code = code != 0 ? code : mechp_fmi_package(&content, zip);
    free(picture);
    mechp_text_fini(&results);
    if (code == MECH_CANCELLED) {
        mechd_fail_outcome(c, code);
    } else if (code != 0) {
        mechd_fail(c, code < 0 ? MECHP_OUT_OF_MEMORY : MECHP_INVALID_MODEL, "%s",
                   code < 0 ? "no memory for the FMU" : "the FMU is too large");
    }
    return code == 0;
}

/* All up to the binary into the call's text; the simulation is that of the document. */
static enum mechd_progress write_head(struct mechd_call *c, struct exported *x,
                                      const struct mechp_fmi_content *given, struct mech_sim *sim)
{
    char identifier[MECHP_FMI_IDENTIFIER];

    x->binary = given->binary;
    x->zip.w = &c->text;
    if (!mechd_fmu_head(c, given, sim, &x->zip)) {
        return MECHD_DONE;
    }
    x->zip.past = c->text.length + x->binary->stored;
    mechp_fmi_identifier(sim, identifier);
    snprintf(c->file, sizeof c->file, "%s.fmu", identifier);
    // the head holds size and checksum of the binary as well
    snprintf(c->etag, sizeof c->etag, "\"fmu.%016" PRIx64 "\"",
             mech_hash(c->text.bytes, c->text.length, 0));
    c->content_type = "application/vnd.fmi";
    c->produce = produce;
    return MECHD_DONE;
}

static enum mechd_progress run_fmu(struct mechd_call *c)
{
    struct mechp_query_fmu asked;
    MECHD_ASK(fmu, c, &asked);
    const enum mechp_fmi_version version = asked.version == 2 ? MECHP_FMI_2 : MECHP_FMI_3;
    struct mechp_text document;

    const enum which which = asked.kind == 1 ? PROXY : SOLVER;
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    struct exported *const x = calloc(1, sizeof *x);
    c->work = x;
    c->work_free = x != NULL ? free_exported : NULL;
    if (x == NULL) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the FMU");
    }
    const struct mechp_packed *const binary = find_binary(c, which);
    if (binary == NULL) {
        return MECHD_DONE;
    }
    const struct mechp_fmi_proxy proxy = {
        .server = c->service->self.lane != NULL ? c->service->self.lane : "",
        .windows = which == PROXY ? find_binary(c, WINDOWS) : NULL};
    if (c->code != MECHP_OK) {
        return MECHD_DONE;
    }
    mechp_text_init(&document, NULL, 0);
    mechp_bind_write(mech_sim_document(c->job.instance->sim), &document);
    struct mech_sim *const sim = mechd_fmu_build(c, &document);
    if (sim != NULL) {
        (void)write_head(c, x,
                         &(struct mechp_fmi_content){.version = version,
                                                     .document = document.bytes,
                                                     .document_size = document.length,
                                                     .binary = binary,
                                                     .proxy = which == PROXY ? &proxy : NULL},
                         sim);
        mech_sim_destroy(sim);
    }
    mechp_text_fini(&document);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_FMU = {.run = run_fmu};
