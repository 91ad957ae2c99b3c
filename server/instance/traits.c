/* Labels under the lock of what is published; times as atomics. */
#include "server/instance/traits.h"

#include "server/instance/host.h"
#include "server/os/ticks.h"
#include "solver/base/name.h"

#include <stdlib.h>
#include <string.h>

json_t *mechd_instance_labels(struct mechd_instance *i)
{
    pthread_mutex_lock(&i->p);
    json_t *labels = json_incref(i->labels);
    pthread_mutex_unlock(&i->p);
    return labels;
}

void mechd_instance_labels_unref(struct mechd_instance *i, json_t *labels)
{
    if (labels != NULL) {
        pthread_mutex_lock(&i->p);
        json_decref(labels);
        pthread_mutex_unlock(&i->p);
    }
}

json_t *mechd_instance_set_labels(struct mechd_instance *i, json_t *labels)
{
    pthread_mutex_lock(&i->p);
    json_t *before = i->labels;
    i->labels = labels;
    pthread_mutex_unlock(&i->p);
    return before;
}

int mechd_choice_read(struct mechd_choice *x, const char *text, const char *path,
                      struct mech_diag *diag)
{
    *x = (struct mechd_choice){.text = strdup(text)};
    char *at = x->text;
    const char *why = x->text == NULL ? "no memory for it" : "expected name=value,name";
    struct mech_word word;
    int code = x->text == NULL ? -1 : mech_word_next(&at, &word, &why);
    for (; code > 0; code = mech_word_next(&at, &word, &why)) {
        if (!mech_name_valid(word.name)) {
            mech_diag_add(
                diag, path,
                "'%.64s': the name of a label must have 1 to 64 characters of A-Z a-z 0-9 . _ -",
                word.name);
            return 1;
        }
        if (x->count == MECHD_LABELS_MOST) {
            mech_diag_add(diag, path, "at most %d labels", MECHD_LABELS_MOST);
            return 1;
        }
        x->labels[x->count++] = word;
    }
    if (code < 0 || x->count == 0) {
        mech_diag_add(diag, path, "%s", why);
        return 1;
    }
    return 0;
}

void mechd_choice_fini(struct mechd_choice *x)
{
    free(x->text);
    *x = (struct mechd_choice){.count = 0};
}

bool mechd_instance_chosen(struct mechd_instance *i, const struct mechd_choice *choice)
{
    json_t *labels = mechd_instance_labels(i);
    bool all = true;
    for (size_t k = 0; all && k < choice->count; k++) {
        const struct mech_word *const word = &choice->labels[k];
        const char *const found = json_string_value(json_object_get(labels, word->name));
        all = found != NULL && (word->value == NULL || strcmp(found, word->value) == 0);
    }
    mechd_instance_labels_unref(i, labels);
    return all;
}

void mechd_instance_set_ttl(struct mechd_instance *i, double seconds)
{
    atomic_store(&i->used, mechd_now());
    atomic_store(&i->ttl, seconds);
    mechd_reaper_meet(&i->host->reaper, mechd_instance_ends(i));
}

double mechd_instance_ttl(const struct mechd_instance *i)
{
    return atomic_load(&i->ttl);
}

uint64_t mechd_instance_ends(const struct mechd_instance *i)
{
    const double ttl = atomic_load(&i->ttl);
    return ttl > 0. ? atomic_load(&i->used) + mechd_ns(ttl) + 1 : 0;
}
