/* Model descriptions of all examples, 2.0 and 3.0, against rules of the standards: FMI 2.0.5,
 * section 2.2; FMI 3.0.2, section 2.4. */
#include "protocol/fmi/description.h"

#include "tests/unit/protocol/fmi/xml_read.h"
#include "tests/verify/example.h"

#include <dirent.h>

static const char *const files[] = {"a/one.c", "b/two.c", NULL};
static const struct mechp_fmi_abilities all = {true, true, true, true, true, true, 1, true, true};

struct described {
    struct mechp_fmi_layout layout;
    struct mechp_text text;
    struct xml xml;
};

static struct described describe(const struct mech_sim *s, enum mechp_fmi_version version,
                                 const char *document)
{
    struct described d;
    char token[MECHP_FMI_TOKEN];
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&d.layout, s, version), 0);
    mechp_fmi_layout_token(&d.layout, document, strlen(document), token);
    const struct mechp_fmi_about about = {.name = mech_sim_document(s)->name,
                                          .identifier = "mechd",
                                          .token = token,
                                          .can = all,
                                          .sources = files};
    mechp_text_init(&d.text, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_description(&d.layout, s, &about, &d.text), 0);
    d.xml = xml_of(d.text.bytes, d.text.length);
    return d;
}

static void forget(struct described *d)
{
    xml_fini(&d->xml);
    mechp_text_fini(&d->text);
    mechp_fmi_layout_fini(&d->layout);
}

/* check(description) of each example in both versions */
static void of_all(void (*check)(const struct described *d, const struct mech_sim *s))
{
    DIR *const folder = opendir(MECH_TESTS_FOLDER "/../server/examples");
    int seen = 0;

    CU_ASSERT_FATAL(folder != NULL);
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        const char *const end = strstr(e->d_name, ".json");
        char name[300];
        if (!end) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(end - e->d_name), e->d_name);
        struct mech_sim *const s = example_of(name);
        for (int version = MECHP_FMI_2; version <= MECHP_FMI_3; version++) {
            struct described d = describe(s, (enum mechp_fmi_version)version, name);
            check(&d, s);
            forget(&d);
        }
        mech_sim_destroy(s);
        seen++;
    }
    closedir(folder);
    CU_ASSERT(seen >= 18);
}

static bool is_variable(const struct xml_element *e)
{
    return strcmp(e->parent, "ModelVariables") == 0;
}

/* The attribute of a variable or, in 2.0, of the type within it. */
static const char *type_get(const struct described *d, size_t i, const char *key)
{
    return xml_get(&d->xml.at[d->layout.version == MECHP_FMI_2 ? i + 1 : i], key);
}

static void check_names(const struct described *d, const struct mech_sim *s)
{
    size_t variables = 0;
    (void)s;
    for (size_t i = 0; i < d->xml.n; i++) {
        const struct xml_element *const e = &d->xml.at[i];
        if (!is_variable(e)) {
            continue;
        }
        variables++;
        const char *const name = xml_get(e, "name"), *const vr = xml_get(e, "valueReference");
        CU_ASSERT_FATAL(name && vr && *name);
        for (size_t k = 0; k < i; k++) {
            if (is_variable(&d->xml.at[k])) {
                CU_ASSERT_STRING_NOT_EQUAL(xml_get(&d->xml.at[k], "name"), name);
                CU_ASSERT_STRING_NOT_EQUAL(xml_get(&d->xml.at[k], "valueReference"), vr);
            }
        }
    }
    CU_ASSERT_EQUAL(variables, d->layout.n);
}

static void names_and_references_are_unique(void)
{
    of_all(check_names);
}

/* 2.0.5, 2.2.7 and 3.0.2, 2.4.7.5: start of inputs and of what is exact alone; `initial` neither of
 * inputs nor of the time. */
static void check_starts(const struct described *d, const struct mech_sim *s)
{
    int independent = 0;
    (void)s;
    for (size_t i = 0; i < d->xml.n; i++) {
        const struct xml_element *const e = &d->xml.at[i];
        if (!is_variable(e)) {
            continue;
        }
        const char *const causality = xml_get(e, "causality"), *const initial =
                                                                   xml_get(e, "initial");
        const char *const variability = xml_get(e, "variability");
        const bool input = strcmp(causality, "input") == 0;
        const bool exact = initial && strcmp(initial, "exact") == 0;
        CU_ASSERT_EQUAL(type_get(d, i, "start") != NULL, input || exact);
        CU_ASSERT_EQUAL(exact, strcmp(causality, "parameter") == 0);
        CU_ASSERT_EQUAL(strcmp(variability, "tunable") == 0, exact);
        CU_ASSERT(!input || initial == NULL);
        if (strcmp(causality, "independent") == 0) {
            independent++;
            CU_ASSERT_PTR_NULL(initial);
            CU_ASSERT_STRING_EQUAL(variability, "continuous");
        }
    }
    CU_ASSERT_EQUAL(independent, 1);
}

static void starts_are_where_the_standards_want_them(void)
{
    of_all(check_starts);
}

/* 2.0.5, 2.2.7 and 3.0.2, 2.4.7.4: a start within min and max, a nominal value above 0. */
static void check_limits(const struct described *d, const struct mech_sim *s)
{
    (void)s;
    for (size_t i = 0; i < d->xml.n; i++) {
        if (!is_variable(&d->xml.at[i])) {
            continue;
        }
        const char *const min = type_get(d, i, "min"), *const max = type_get(d, i, "max");
        const char *const nominal = type_get(d, i, "nominal"), *const start =
                                                                   type_get(d, i, "start");
        CU_ASSERT(!min || strtod(start, NULL) >= strtod(min, NULL));
        CU_ASSERT(!max || strtod(start, NULL) <= strtod(max, NULL));
        CU_ASSERT(!nominal || strtod(nominal, NULL) > 0);
    }
}

static void starts_are_within_limits(void)
{
    of_all(check_limits);
}

static void check_units(const struct described *d, const struct mech_sim *s)
{
    (void)s;
    for (size_t i = 0; i < d->xml.n; i++) {
        const char *const unit = is_variable(&d->xml.at[i]) ? type_get(d, i, "unit") : NULL;
        int defined = 0;
        for (size_t k = 0; unit && k < d->xml.n; k++) {
            defined += strcmp(d->xml.at[k].name, "Unit") == 0 &&
                       strcmp(xml_get(&d->xml.at[k], "name"), unit) == 0 &&
                       strcmp(d->xml.at[k + 1].name, "BaseUnit") == 0;
        }
        CU_ASSERT(!unit || defined == 1);
    }
}

static void every_unit_is_defined_once_by_base_units(void)
{
    of_all(check_units);
}

/* An attribute of a variable, "" if it has none. */
static const char *attribute_of(const struct described *d, const char *name, const char *key)
{
    for (size_t i = 0; i < d->xml.n; i++) {
        if (is_variable(&d->xml.at[i]) && strcmp(xml_get(&d->xml.at[i], "name"), name) == 0) {
            const char *const value = type_get(d, i, key);
            return value ? value : "";
        }
    }
    CU_FAIL_FATAL("no such variable");
    return "";
}

/* "m" is above 0 kg, "top" from 0 to 1, the others are in no field */
static const char limited[] =
    "{'mechd': 1, 'parameters': {'m': 2, 'top': 0.5, 'none': -7, 'zero': 0},"
    " 'nodes': [{'type': 'Node1D', 'name': 'n'}],"
    " 'objects': [{'type': 'Mass1D', 'name': 'b', 'node': 'n', 'physicsMass': '=m'}],"
    " 'inputs': [{'name': 'mass', 'parameter': 'm'}],"
    " 'solver': {'spectralRadius': '=top'}}";

static void parameters_have_limits_units_and_nominal_values_of_their_fields(void)
{
    struct mech_sim *const s = model_of(limited);
    for (int version = MECHP_FMI_2; version <= MECHP_FMI_3; version++) {
        static const char *const rows[][5] = {
            {"mass", "0", "", "2", "kg"},
            {"top", "0", "1", "0.5", ""},
            {"none", "", "", "7", ""},
            {"zero", "", "", "", ""},
        };
        struct described d = describe(s, (enum mechp_fmi_version)version, limited);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            CU_ASSERT_STRING_EQUAL(attribute_of(&d, rows[i][0], "min"), rows[i][1]);
            CU_ASSERT_STRING_EQUAL(attribute_of(&d, rows[i][0], "max"), rows[i][2]);
            CU_ASSERT_STRING_EQUAL(attribute_of(&d, rows[i][0], "nominal"), rows[i][3]);
            CU_ASSERT_STRING_EQUAL(attribute_of(&d, rows[i][0], "unit"), rows[i][4]);
        }
        check_units(&d, s);
        forget(&d);
    }
    mech_sim_destroy(s);
}

/* The variable that the structure names by this text, or NULL. */
static const struct xml_element *named(const struct described *d, const char *text)
{
    const long number = strtol(text, NULL, 10);
    long place = 0;
    for (size_t i = 0; i < d->xml.n; i++) {
        if (is_variable(&d->xml.at[i])) {
            place++;
            const long own = d->layout.version == MECHP_FMI_2
                                 ? place
                                 : strtol(xml_get(&d->xml.at[i], "valueReference"), NULL, 10);
            if (own == number) {
                return &d->xml.at[i];
            }
        }
    }
    return NULL;
}

static void check_dependencies(const struct described *d, const char *list)
{
    char *const copy = strdup(list);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        const struct xml_element *const known = named(d, word);
        CU_ASSERT_PTR_NOT_NULL_FATAL(known);
        CU_ASSERT_STRING_EQUAL(xml_get(known, "causality"), "input");
    }
    free(copy);
}

/* Each output is once among the outputs and once among the unknowns of the initialization. */
static void check_structure(const struct described *d, const struct mech_sim *s)
{
    const bool two = d->layout.version == MECHP_FMI_2;
    size_t unknowns = 0, outputs = 0;
    (void)s;
    for (size_t i = 0; i < d->xml.n; i++) {
        const struct xml_element *const e = &d->xml.at[i];
        const bool initial =
            strcmp(two ? e->parent : e->name, two ? "InitialUnknowns" : "InitialUnknown") == 0;
        const bool output = strcmp(two ? e->parent : e->name, two ? "Outputs" : "Output") == 0;
        outputs += is_variable(e) && strcmp(xml_get(e, "causality"), "output") == 0;
        if (!initial && !output) {
            continue;
        }
        unknowns++;
        const char *const place = xml_get(e, two ? "index" : "valueReference");
        CU_ASSERT_PTR_NOT_NULL_FATAL(place);
        const struct xml_element *const v = named(d, place);
        CU_ASSERT_PTR_NOT_NULL_FATAL(v);
        CU_ASSERT_STRING_EQUAL(xml_get(v, "causality"), "output");
        if (xml_get(e, "dependencies")) {
            check_dependencies(d, xml_get(e, "dependencies"));
        }
        for (size_t k = 0; k < i; k++) {
            CU_ASSERT(strcmp(d->xml.at[k].name, e->name) != 0 ||
                      strcmp(d->xml.at[k].parent, e->parent) != 0 ||
                      strcmp(xml_get(&d->xml.at[k], two ? "index" : "valueReference"), place) != 0);
        }
    }
    CU_ASSERT_EQUAL(unknowns, 2 * outputs);
}

static void outputs_and_dependencies_are_known(void)
{
    of_all(check_structure);
}

/* 2.0 lists what is compiled, 3.0 does so in a file of its own. */
static void check_sources(const struct described *d, const struct mech_sim *s)
{
    size_t listed = 0;
    (void)s;
    for (size_t i = 0; i < d->xml.n; i++) {
        if (strcmp(d->xml.at[i].name, "File") == 0) {
            CU_ASSERT_STRING_EQUAL(d->xml.at[i].parent, "SourceFiles");
            CU_ASSERT_FATAL(listed < 2);
            CU_ASSERT_STRING_EQUAL(xml_get(&d->xml.at[i], "name"), files[listed++]);
        }
    }
    CU_ASSERT_EQUAL(listed, d->layout.version == MECHP_FMI_2 ? 2 : 0);
}

static void sources_are_listed_in_version_2(void)
{
    of_all(check_sources);
}

/* the schemas are sequences */
static void check_order(const struct described *d, const struct mech_sim *s)
{
    static const char *const order[] = {"CoSimulation",      "UnitDefinitions", "LogCategories",
                                        "DefaultExperiment", "ModelVariables",  "ModelStructure"};
    size_t next = 0;
    (void)s;
    for (size_t i = 0; i < d->xml.n; i++) {
        if (d->xml.at[i].depth == 1) {
            CU_ASSERT_FATAL(next < sizeof order / sizeof *order);
            CU_ASSERT_STRING_EQUAL(d->xml.at[i].name, order[next++]);
        }
    }
    CU_ASSERT_EQUAL(next, sizeof order / sizeof *order);
    CU_ASSERT_STRING_EQUAL(xml_get(&d->xml.at[0], "fmiVersion"),
                           d->layout.version == MECHP_FMI_2 ? "2.0" : "3.0");
}

static void elements_are_in_the_order_of_the_schemas(void)
{
    of_all(check_order);
}

/* What a variable gives are the simulation's values, and all outputs are there. */
static void check_values(const struct described *d, const struct mech_sim *s)
{
    const size_t n = mech_sim_output_size(s);
    double *const packed = calloc(n + 1, sizeof *packed), *const got = calloc(n + 1, sizeof *got);
    size_t seen = 0;
    CU_ASSERT_FATAL(packed && got);
    mech_sim_get_outputs(s, packed);
    for (size_t i = 0; i < d->layout.n; i++) {
        const struct mechp_fmi_variable *const v = &d->layout.at[i];
        CU_ASSERT_PTR_EQUAL(mechp_fmi_layout_find(&d->layout, v->reference), v);
        if (v->causality == MECH_OUTPUT_VARIABLE) {
            mechp_fmi_layout_get(&d->layout, s, v, got);
            CU_ASSERT_EQUAL(memcmp(got, packed + v->offset, (size_t)v->size * sizeof *got), 0);
            seen += (size_t)v->size;
        }
    }
    CU_ASSERT_EQUAL(seen, n);
    CU_ASSERT_PTR_NULL(mechp_fmi_layout_find(&d->layout, 1000000));
    free(packed);
    free(got);
}

static void every_output_has_a_reference_and_its_values(void)
{
    of_all(check_values);
}

static const struct mechp_fmi_variable *find(const struct mechp_fmi_layout *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->at[i].name, name) == 0) {
            return &l->at[i];
        }
    }
    return NULL;
}

/* an input "tip" that sets the parameter "tip", beside an output "tip" */
static void of_equal_names_the_input_keeps_it(void)
{
    struct mech_sim *const s = example_of("flexible-cantilever");
    struct mechp_fmi_layout l;
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&l, s, MECHP_FMI_3), 0);
    const struct mechp_fmi_variable *const tip = find(&l, "tip");
    CU_ASSERT_FATAL(tip && find(&l, "output:tip"));
    CU_ASSERT_EQUAL(tip->causality, MECH_INPUT);
    CU_ASSERT_EQUAL(tip->variability, MECHP_FMI_DISCRETE);
    CU_ASSERT_EQUAL(find(&l, "output:tip")->size, 3);
    CU_ASSERT_PTR_NULL(find(&l, "parameter:tip"));
    mechp_fmi_layout_fini(&l);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&l, s, MECHP_FMI_2), 0);
    CU_ASSERT_PTR_NOT_NULL(find(&l, "output:tip[3]"));
    mechp_fmi_layout_fini(&l);
    mech_sim_destroy(s);
}

static const char hand[] =
    "{'mechd': 1, 'nodes': [{'type': 'NodeRigidBodyEP', 'name': 'n',"
    " 'referenceCoordinates': [0, 0, 0, 1, 0, 0, 0]}],"
    " 'objects': [{'type': 'RigidBody', 'name': 'b', 'node': 'n', 'physicsMass': 1,"
    " 'physicsInertia': [1, 1, 1, 0, 0, 0]}],"
    " 'markers': [{'type': 'MarkerBodyRigid', 'name': 'grip', 'object': 'b'}],"
    " 'sensors': [{'type': 'SensorBody', 'name': 'time', 'object': 'b',"
    " 'outputVariable': 'Position'}],"
    " 'inputs': [{'name': 'grip', 'marker': 'grip'}]}";

/* three forces and three moments, and a sensor that is called as the time is */
static void two_units_are_two_arrays(void)
{
    struct mech_sim *const s = model_of(hand);
    struct described d = describe(s, MECHP_FMI_3, hand);
    const struct mechp_fmi_variable *const f = find(&d.layout, "grip:1"), *const m = find(&d.layout,
                                                                                          "grip:2");
    CU_ASSERT_FATAL(f && m && find(&d.layout, "output:time"));
    CU_ASSERT_STRING_EQUAL(f->unit, "N");
    CU_ASSERT_STRING_EQUAL(m->unit, "N m");
    CU_ASSERT_EQUAL(f->size, 3);
    CU_ASSERT_EQUAL(m->offset, 3);
    CU_ASSERT_EQUAL(f->reference, 1);
    CU_ASSERT_EQUAL(m->reference, 3);
    check_names(&d, s);
    check_starts(&d, s);
    check_units(&d, s);
    check_structure(&d, s);
    forget(&d);
    d = describe(s, MECHP_FMI_2, hand);
    CU_ASSERT_STRING_EQUAL(find(&d.layout, "grip[3]")->unit, "N");
    CU_ASSERT_STRING_EQUAL(find(&d.layout, "grip[4]")->unit, "N m");
    check_names(&d, s);
    check_structure(&d, s);
    forget(&d);
    mech_sim_destroy(s);
}

/* a sensor of each type; a load has the one variable that its type gives */
static const char measured[] =
    "{'mechd': 1, 'nodes': [{'type': 'NodeRigidBodyEP', 'name': 'n',"
    " 'referenceCoordinates': [0, 0, 0, 1, 0, 0, 0]}],"
    " 'objects': [{'type': 'RigidBody', 'name': 'b', 'node': 'n', 'physicsMass': 1,"
    " 'physicsInertia': [1, 1, 1, 0, 0, 0]}],"
    " 'markers': [{'type': 'MarkerBodyRigid', 'name': 'grip', 'object': 'b'}],"
    " 'loads': [{'type': 'LoadForceVector', 'name': 'push', 'marker': 'grip',"
    " 'load': [1, 2, 3]}],"
    " 'sensors': ["
    "{'type': 'SensorBody', 'name': 'SensorBody', 'object': 'b', 'outputVariable': 'Position'},"
    "{'type': 'SensorLoad', 'name': 'SensorLoad', 'load': 'push'},"
    "{'type': 'SensorMarker', 'name': 'SensorMarker', 'marker': 'grip',"
    " 'outputVariable': 'Velocity'},"
    "{'type': 'SensorNode', 'name': 'SensorNode', 'node': 'n', 'outputVariable': 'Coordinates'},"
    "{'type': 'SensorObject', 'name': 'SensorObject', 'object': 'b',"
    " 'outputVariable': 'Rotation'}]%s}";

static void check_measured(const char *outputs)
{
    char text[sizeof measured + 400];
    snprintf(text, sizeof text, measured, outputs);
    struct mech_sim *const s = model_of(text);
    struct described d = describe(s, MECHP_FMI_3, text);
    for (size_t i = 0; mech_item_types[i]; i++) {
        if (mech_item_types[i]->category == MECH_SENSOR) {
            CU_ASSERT_PTR_NOT_NULL(find(&d.layout, mech_item_types[i]->name));
        }
    }
    const struct mechp_fmi_variable *const push = find(&d.layout, "SensorLoad");
    CU_ASSERT_FATAL(push != NULL);
    CU_ASSERT_STRING_EQUAL(push->description, "Force, by sensor \"SensorLoad\"");
    CU_ASSERT_STRING_EQUAL(push->unit, "N");
    check_structure(&d, s);
    check_values(&d, s);
    forget(&d);
    d = describe(s, MECHP_FMI_2, text);
    CU_ASSERT_PTR_NOT_NULL(find(&d.layout, "SensorLoad[3]"));
    check_structure(&d, s);
    forget(&d);
    mech_sim_destroy(s);
}

static void every_type_of_sensor_is_described(void)
{
    check_measured("");
    check_measured(", 'outputs': [{'name': 'SensorLoad', 'sensor': 'SensorLoad'},"
                   "{'name': 'SensorBody', 'sensor': 'SensorBody'},"
                   "{'name': 'SensorNode', 'sensor': 'SensorNode', 'component': 3},"
                   "{'name': 'SensorObject', 'sensor': 'SensorObject'},"
                   "{'name': 'SensorMarker', 'sensor': 'SensorMarker'}]");
}

/* a point of the ground has no coordinates: FMI has no variable without values */
static void an_output_without_values_is_no_variable(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'type': 'NodePointGround', 'name': 'g'}],"
                 " 'sensors': [{'type': 'SensorNode', 'name': 'none', 'node': 'g',"
                 " 'outputVariable': 'Coordinates'}]}");
    for (int version = MECHP_FMI_2; version <= MECHP_FMI_3; version++) {
        struct described d = describe(s, (enum mechp_fmi_version)version, "m");
        CU_ASSERT_EQUAL(d.layout.n, 1);
        check_names(&d, s);
        check_structure(&d, s);
        check_order(&d, s);
        for (size_t i = 0; i < d.xml.n; i++) {
            CU_ASSERT_STRING_NOT_EQUAL(d.xml.at[i].name, "Outputs");
            CU_ASSERT_STRING_NOT_EQUAL(d.xml.at[i].name, "InitialUnknowns");
        }
        forget(&d);
    }
    mech_sim_destroy(s);
}

static void tokens_belong_to_document_and_version(void)
{
    struct mech_sim *const s = example_of("slider-crank");
    struct mechp_fmi_layout l;
    char token[4][MECHP_FMI_TOKEN];
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&l, s, MECHP_FMI_3), 0);
    mechp_fmi_layout_token(&l, "a", 1, token[0]);
    mechp_fmi_layout_token(&l, "a", 1, token[1]);
    mechp_fmi_layout_token(&l, "b", 1, token[2]);
    mechp_fmi_layout_fini(&l);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&l, s, MECHP_FMI_2), 0);
    mechp_fmi_layout_token(&l, "a", 1, token[3]);
    mechp_fmi_layout_fini(&l);
    CU_ASSERT_STRING_EQUAL(token[0], token[1]);
    CU_ASSERT_STRING_NOT_EQUAL(token[0], token[2]);
    CU_ASSERT_STRING_NOT_EQUAL(token[0], token[3]);
    CU_ASSERT_EQUAL(strlen(token[0]), MECHP_FMI_TOKEN - 1);
    mech_sim_destroy(s);
}

static void a_model_gives_the_same_bytes_twice(void)
{
    struct mech_sim *const a = example_of("four-bar"), *const b = example_of("four-bar");
    struct described x = describe(a, MECHP_FMI_3, "m"), y = describe(b, MECHP_FMI_3, "m");
    CU_ASSERT_EQUAL_FATAL(x.text.length, y.text.length);
    CU_ASSERT_EQUAL(memcmp(x.text.bytes, y.text.bytes, x.text.length), 0);
    forget(&x);
    forget(&y);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

UNIT_TESTS(UNIT_TEST(names_and_references_are_unique),
           UNIT_TEST(starts_are_where_the_standards_want_them), UNIT_TEST(starts_are_within_limits),
           UNIT_TEST(parameters_have_limits_units_and_nominal_values_of_their_fields),
           UNIT_TEST(every_unit_is_defined_once_by_base_units),
           UNIT_TEST(outputs_and_dependencies_are_known),
           UNIT_TEST(sources_are_listed_in_version_2),
           UNIT_TEST(elements_are_in_the_order_of_the_schemas),
           UNIT_TEST(every_output_has_a_reference_and_its_values),
           UNIT_TEST(of_equal_names_the_input_keeps_it), UNIT_TEST(two_units_are_two_arrays),
           UNIT_TEST(every_type_of_sensor_is_described),
           UNIT_TEST(an_output_without_values_is_no_variable),
           UNIT_TEST(tokens_belong_to_document_and_version),
           UNIT_TEST(a_model_gives_the_same_bytes_twice))
