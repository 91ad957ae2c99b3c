/* Archives of FMUs for a package. */
#include "server/operations/ssp_models.h"

#include "protocol/bind/bind.h"
#include "server/call/service.h"
#include "server/engine/fmu_engine.h"
#include "server/operations/fmu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 /* bytes read at a time */ };

void mechd_ssp_models_fini(struct mechd_ssp_models *m)
{
    for (size_t k = 0; k < m->count; k++) {
        mechp_text_fini(&m->at[k].document);
        mechp_text_fini(&m->at[k].text);
        mechp_fmi_layout_fini(&m->at[k].layout);
        mechd_fmu_package_unref(m->at[k].package);
    }
    free(m->at);
    *m = (struct mechd_ssp_models){.count = 0};
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool equal_but_case(const char *a, const char *b)
{
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

/* Also by one that is another but for its case: some file systems do not distinguish them. */
static bool file_is_taken(const struct mechd_ssp_models *m, const char *file)
{
    for (size_t k = 0; k + 1 < m->count; k++) {
        if (equal_but_case(m->at[k].file, file)) {
            return true;
        }
    }
    return false;
}

/* A name of its own, after that of the binary; the last one of the list. */
static void name_file(struct mechd_ssp_models *m, const char *identifier)
{
    struct mechd_ssp_model *const x = &m->at[m->count - 1];
    (void)snprintf(x->file, sizeof x->file, "resources/%.64s.fmu", identifier);
    for (int k = 2; file_is_taken(m, x->file); k++) {
        (void)snprintf(x->file, sizeof x->file, "resources/%.64s_%d.fmu", identifier, k);
    }
}

/* The next one, empty. */
static struct mechd_ssp_model *next(struct mechd_ssp_models *m, size_t *out)
{
    struct mechd_ssp_model *const x = &m->at[m->count];
    *out = m->count++;
    mechp_text_init(&x->document, NULL, 0);
    mechp_text_init(&x->text, NULL, 0);
    return x;
}

/* --- of models -------------------------------------------------------------------------------- */

/* Sizes and checksum of the archive: text, with the binary in it. */
static void measure(struct mechd_ssp_model *x, const struct mechp_packed *binary)
{
    uint32_t crc = mechp_crc(0, x->text.bytes, x->head);
    crc = mechp_crc(crc, binary->bytes, binary->stored);
    crc = mechp_crc(crc, x->text.bytes + x->head, x->text.length - x->head);
    x->stored.size = x->stored.stored = x->text.length + binary->stored;
    x->stored.crc = crc;
}

/* Its archive. False: refused. */
static bool write_archive(struct mechd_call *c, struct mechd_ssp_model *x,
                          const struct mechp_packed *binary, struct mech_sim *sim)
{
    const struct mechp_fmi_content content = {.version = MECHP_FMI_2,
                                              .document = x->document.bytes,
                                              .document_size = x->document.length,
                                              .binary = binary};
    struct mechp_zip *const zip = calloc(1, sizeof *zip);
    int code = zip != NULL ? mechp_fmi_layout_init(&x->layout, sim, MECHP_FMI_2) : MECH_NO_MEMORY;
    if (code == 0) {
        zip->w = &x->text;
        if (!mechd_fmu_head(c, &content, sim, zip)) {
            free(zip);
            return false;
        }
        x->head = x->text.length;
        zip->past = binary->stored;
        code = mechp_zip_end(zip);
    }
    free(zip);
    if (code != 0) {
        mechd_fail(c, code < 0 ? MECHP_OUT_OF_MEMORY : MECHP_INVALID_MODEL, "%s",
                   code < 0 ? "no memory for the FMU" : "the FMU is too large");
        return false;
    }
    measure(x, binary);
    return true;
}

static bool add_document(struct mechd_call *c, struct mechd_ssp_models *m,
                         const struct mech_sim *of, size_t *out)
{
    char identifier[MECHP_FMI_IDENTIFIER];
    struct mechd_ssp_model *const x = next(m, out);
    mechp_bind_write(mech_sim_document(of), &x->document);
    for (size_t k = 0; k + 1 < m->count && !x->document.failed; k++) {
        const struct mechp_text *const known = &m->at[k].document;
        if (known->length == x->document.length &&
            memcmp(known->bytes, x->document.bytes, known->length) == 0) {
            mechp_text_fini(&x->document);
            m->count--;
            *out = k;
            return true;
        }
    }
    m->binary = m->binary != NULL ? m->binary : mechd_fmu_binary(c);
    struct mech_sim *const sim = m->binary != NULL ? mechd_fmu_build(c, &x->document) : NULL;
    if (sim == NULL) {
        return false;
    }
    mechp_fmi_identifier(sim, identifier);
    name_file(m, identifier);
    x->start = mech_sim_time(sim);
    const bool written = write_archive(c, x, m->binary, sim);
    mech_sim_destroy(sim);
    return written;
}

/* --- hosted ones ------------------------------------------------------------------------------ */

/* The checksum of its archive. False: it cannot be read. */
static bool sum_up(const struct mechd_fmu_package *p, uint32_t *crc)
{
    char *const piece = malloc(PIECE);
    bool good = piece != NULL;
    *crc = 0;
    for (uint64_t at = 0; good && at < p->size; at += PIECE) {
        const size_t n = p->size - at < PIECE ? (size_t)(p->size - at) : PIECE;
        good = mechd_fmu_package_read(p, at, piece, n);
        *crc = good ? mechp_crc(*crc, piece, n) : 0;
    }
    free(piece);
    return good;
}

static bool add_package(struct mechd_call *c, struct mechd_ssp_models *m,
                        struct mechd_fmu_package *p, size_t *out)
{
    for (size_t k = 0; k < m->count; k++) {
        if (m->at[k].package == p) {
            *out = k;
            return true;
        }
    }
    struct mechd_ssp_model *const x = next(m, out);
    x->package = mechd_fmu_package_ref(p);
    x->start = isfinite(p->description.start_time) ? p->description.start_time : 0.;
    x->stored.size = x->stored.stored = (size_t)p->size;
    name_file(m, p->description.identifier);
    if (!sum_up(p, &x->stored.crc)) {
        mechd_fail(c, MECHP_INTERNAL, "the archive of %.64s cannot be read", p->description.name);
        return false;
    }
    return true;
}

bool mechd_ssp_model_add(struct mechd_call *c, struct mechd_ssp_models *m,
                         const struct mechd_instance *i, size_t *out)
{
    return i->sim != NULL ? add_document(c, m, i->sim, out)
                          : add_package(c, m, mechd_engine_package(&i->engine), out);
}
