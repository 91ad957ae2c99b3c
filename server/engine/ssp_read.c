/* Files of a package, and its description. */
#include "server/engine/ssp_tree.h"
#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

static const char description[] = "SystemStructure.ssd";

/* --- memory ----------------------------------------------------------------------------------- */

/* The arena has a limit of its own, below that of the machine. */
static void starve(struct mechd_ssp_tree *t)
{
    if (t->outcome == 0) {
        mech_diag_add(t->diag, "/SystemStructure.ssd", "needs more memory than is allowed");
        t->outcome = MECHD_SSP_REFUSED;
    }
}

void *mechd_ssp_alloc(struct mechd_ssp_tree *t, size_t count, size_t size)
{
    void *const made = mech_arena_alloc(&t->s->arena, count + 1, size);
    if (made == NULL) {
        starve(t);
    }
    return made;
}

char *mechd_ssp_copy(struct mechd_ssp_tree *t, const char *text)
{
    char *const made = mech_arena_strdup(&t->s->arena, text);
    if (made == NULL) {
        starve(t);
    }
    return made;
}

void *mechd_ssp_add(struct mechd_ssp_tree *t, struct mech_arena_list *list, size_t size,
                    size_t most, const struct mechd_ssp_element *at)
{
    if (list->count >= most) {
        if (t->outcome == 0) {
            mechd_ssp_fault(t->diag, at, "more than %zu of this kind: %.64s", most, at->name);
            t->outcome = MECHD_SSP_REFUSED;
        }
        return NULL;
    }
    void *const added = mech_arena_add(&t->s->arena, list, size);
    if (added == NULL) {
        starve(t);
    }
    return added;
}

bool mechd_ssp_works(struct mechd_ssp_tree *t, const struct mechd_ssp_element *at)
{
    static const uint64_t most = 50000000; // about a second
    if (++t->work == most && t->outcome == 0) {
        mechd_ssp_fault(t->diag, at, "the structure takes more work than is allowed");
        t->outcome = MECHD_SSP_REFUSED;
    }
    return t->work < most;
}

bool mechd_ssp_good(const struct mechd_ssp_tree *t)
{
    return t->outcome == 0 && mech_diag_clean(t->diag);
}

/* --- files ------------------------------------------------------------------------------------ */

static int hexadecimal(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Percent escapes of a relative reference in place. False: it is none within the archive. */
static bool plain_path(char *path)
{
    char *out = path;
    if (path[0] == '/' || path[0] == '\0' || strpbrk(path, ":?#\\") != NULL) {
        return false;
    }
    for (const char *c = path; *c != '\0'; c++) {
        const bool escape = *c == '%';
        const int high = escape ? hexadecimal(c[1]) : 0,
                  low = escape && high >= 0 ? hexadecimal(c[2]) : 0;
        if (escape && (high < 0 || low < 0 || high + low == 0)) {
            return false;
        }
        *out++ = escape ? (char)(16 * high + low) : *c;
        c += escape ? 2 : 0;
    }
    *out = '\0';
    // parts that lead elsewhere
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "../", 3) == 0 || strcmp(part, "..") == 0) {
            return false;
        }
    }
    return true;
}

bool mechd_ssp_path(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e, const char **out)
{
    const char *source = NULL;
    if (!mechd_ssp_required(e, "source", t->diag, &source)) {
        return false;
    }
    if (strcmp(mechd_ssp_attribute(e, "sourceBase", "SSD"), "SSD") != 0) {
        mechd_ssp_fault(t->diag, e, "sources within a component are not supported: %.100s", source);
        return false;
    }
    char *const path = mechd_ssp_copy(t, source);
    if (path == NULL) {
        return false;
    }
    if (!plain_path(path)) {
        mechd_ssp_fault(t->diag, e, "source: \"%.100s\" is not a file of the package", source);
        return false;
    }
    *out = strncmp(path, "./", 2) == 0 ? path + 2 : path;
    return true;
}

/* The root of a file of the package. NULL: a fault. */
static const struct mechd_ssp_element *load(struct mechd_ssp_tree *t, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    int outcome = t->files->read(t->files->of, path, &text, &size, t->diag);
    const struct mechd_ssp_element *const root =
        outcome == 0 ? mechd_ssp_parse(text, size, path, &t->s->arena, t->diag, &outcome) : NULL;
    free(text);
    t->outcome = t->outcome != 0 ? t->outcome : outcome;
    return root;
}

bool mechd_ssp_content(struct mechd_ssp_tree *t, const struct mechd_ssp_element *e,
                       const struct mechd_ssp_element *inside, struct mechd_ssp_file *out)
{
    const char *path = NULL;
    if (mechd_ssp_attribute(e, "source", NULL) == NULL) {
        if (inside == NULL || inside->first == NULL) {
            mechd_ssp_fault(t->diag, e, "%.64s has neither a source nor content", e->name);
            return false;
        }
        *out = (struct mechd_ssp_file){.path = e->file, .root = inside->first};
        mechd_ssp_read_units(t, out->root, &out->units);
        return mechd_ssp_good(t);
    }
    if (!mechd_ssp_path(t, e, &path)) {
        return false;
    }
    const struct mechd_ssp_file *const known = t->read.items;
    for (size_t k = 0; k < t->read.count && mechd_ssp_works(t, e); k++) {
        if (strcmp(known[k].path, path) == 0) {
            *out = known[k];
            return out->root != NULL;
        }
    }
    struct mechd_ssp_file *const file =
        t->files != NULL && t->outcome == 0
            ? mechd_ssp_add(t, &t->read, sizeof *file, MECHD_SSP_FILES_MOST, e)
            : NULL;
    if (file == NULL) {
        return false;
    }
    *file = (struct mechd_ssp_file){.path = path};
    *out = *file;
    out->root = load(t, path);
    if (out->root != NULL) {
        mechd_ssp_read_units(t, out->root, &out->units);
    }
    *file = *out;
    return out->root != NULL && mechd_ssp_good(t);
}

/* --- the description -------------------------------------------------------------------------- */

/* What this server has written of the coupling itself. */
static const char *find_settings(const struct mechd_ssp_element *root)
{
    const struct mechd_ssp_element *const all = mechd_ssp_child(root, MECHD_SSP_SSD, "Annotations");
    for (const struct mechd_ssp_element *a = mechd_ssp_child(all, MECHD_SSP_SSC, "Annotation");
         a != NULL; a = mechd_ssp_sibling(a)) {
        const struct mechd_ssp_element *const own = mechd_ssp_child(a, MECHD_SSP_MECHD, "Coupling");
        if (own != NULL) {
            return mechd_ssp_attribute(own, "settings", NULL);
        }
    }
    return NULL;
}

static void read_all(struct mechd_ssp_tree *t)
{
    const char *version = NULL;
    const struct mechd_ssp_element *const root = load(t, description);
    if (root == NULL) {
        return;
    }
    if (!mechd_ssp_is(root, MECHD_SSP_SSD, "SystemStructureDescription")) {
        mechd_ssp_fault(t->diag, root, "%.64s is not a SystemStructureDescription", root->name);
        return;
    }
    if (!mechd_ssp_required(root, "version", t->diag, &version)) {
        return;
    }
    if (strncmp(version, "1.", 2) != 0 && strncmp(version, "2.", 2) != 0) {
        mechd_ssp_fault(t->diag, root, "version: \"%.32s\" is not 1.0 or 2.0", version);
        return;
    }
    const struct mechd_ssp_element *const system = mechd_ssp_child(root, MECHD_SSP_SSD, "System");
    if (system == NULL) {
        mechd_ssp_fault(t->diag, root, "the description has no System");
        return;
    }
    t->s->name = mechd_ssp_attribute(root, "name", "");
    t->s->settings = find_settings(root);
    mechd_ssp_read_units(t, root, &t->units);
    mechd_ssp_read_parts(t, system);
    if (t->outcome == 0) {
        mechd_ssp_connect(t);
        mechd_ssp_read_bindings(t);
    }
    if (mechd_ssp_good(t) && t->components.count == 0) {
        mechd_ssp_fault(t->diag, system, "the system has no components");
    }
}

int mechd_ssp_outcome(const struct mechd_ssp_tree *t)
{
    return t->outcome < 0 ? t->outcome : mechd_ssp_good(t) ? 0 : MECHD_SSP_REFUSED;
}

int mechd_ssp_read(const struct mechd_ssp_files *files, struct mechd_ssp *out,
                   struct mech_diag *diag)
{
    *out = (struct mechd_ssp){.name = ""};
    mech_arena_init(&out->arena, MECHD_SSP_MEMORY_MOST);
    struct mechd_ssp_tree *const t = mech_arena_alloc(&out->arena, 1, sizeof *t);
    if (t == NULL) {
        return MECH_NO_MEMORY;
    }
    *t = (struct mechd_ssp_tree){.s = out, .diag = diag, .files = files};
    read_all(t);
    const int outcome = mechd_ssp_outcome(t);
    if (outcome != 0) {
        mechd_ssp_fini(out);
        return outcome;
    }
    out->tree = t;
    out->sources = t->sources.items;
    out->source_count = t->sources.count;
    out->components = t->components.items;
    out->component_count = t->components.count;
    t->files = NULL;
    return 0;
}

void mechd_ssp_fini(struct mechd_ssp *s)
{
    mech_arena_fini(&s->arena);
    *s = (struct mechd_ssp){.name = ""};
}
