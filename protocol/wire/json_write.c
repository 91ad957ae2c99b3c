/* A tree as text. As deep as it was when it was read. */
#include "protocol/wire/json.h"

static void write_object(const json_t *object, struct mechp_text *w)
{
    const char *key;
    json_t *member;
    mechp_text_object(w);
    json_object_foreach((json_t *)(uintptr_t)object, key, member)
    {
        mechp_text_key(w, key);
        mechp_json_write(member, w);
    }
    mechp_text_end(w);
}

void mechp_json_write(const json_t *value, struct mechp_text *w)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(value, w);
        break;
    case JSON_ARRAY:
        mechp_text_array(w);
        for (size_t k = 0; k < json_array_size(value); k++) {
            mechp_json_write(json_array_get(value, k), w);
        }
        mechp_text_end(w);
        break;
    case JSON_STRING:
        mechp_text_string_n(w, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        mechp_text_integer(w, json_integer_value(value));
        break;
    case JSON_REAL:
        mechp_text_number(w, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        mechp_text_bool(w, json_is_true(value));
        break;
    case JSON_NULL:
        mechp_text_null(w);
        break;
    }
}
