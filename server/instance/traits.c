/* Labels under the lock of what is published; times as atomics. */
#include "server/instance/traits.h"

#include "server/instance/host.h"
#include "server/os/ticks.h"

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

/* One label of an object of them. */
static bool has(json_t *labels, const char *name, size_t length, const char *value,
                size_t value_length)
{
    const char *key = NULL;
    json_t *found = NULL;
    json_object_foreach(labels, key, found)
    {
        if (strlen(key) == length && memcmp(key, name, length) == 0) {
            return value == NULL || (json_string_length(found) == value_length &&
                                     memcmp(json_string_value(found), value, value_length) == 0);
        }
    }
    return false;
}

bool mechd_instance_chosen(struct mechd_instance *i, const char *choice)
{
    json_t *labels = mechd_instance_labels(i);
    bool all = true;
    while (all && *choice != '\0') {
        const size_t length = strcspn(choice, ",");
        const size_t name = strcspn(choice, "=,");
        const char *value = choice[name] == '=' ? choice + name + 1 : NULL;
        all = has(labels, choice, name, value, value != NULL ? length - name - 1 : 0);
        choice += length + (choice[length] == ',');
    }
    mechd_instance_labels_unref(i, labels);
    return all;
}

void mechd_instance_set_ttl(struct mechd_instance *i, double seconds)
{
    atomic_store(&i->used, mechd_now());
    atomic_store(&i->ttl, (uint64_t)(1e9 * seconds));
    mechd_reaper_meet(&i->host->reaper, mechd_instance_ends(i));
}

double mechd_instance_ttl(const struct mechd_instance *i)
{
    return (double)atomic_load(&i->ttl) / 1e9;
}

uint64_t mechd_instance_ends(const struct mechd_instance *i)
{
    const uint64_t ttl = atomic_load(&i->ttl);
    return ttl != 0 ? atomic_load(&i->used) + ttl : 0;
}
