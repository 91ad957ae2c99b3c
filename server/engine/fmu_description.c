/* The elements of a model description as a table of (parent, name): what to do with each. */
#include "server/engine/fmu_description.h"
#include "server/engine/fmu_attributes.h"
#include "server/engine/fmu_resolve.h"
#include "server/engine/xml.h"
#include "solver/base/err.h"

#include <math.h>
#include <string.h>

enum element {
    DOCUMENT,
    ROOT,
    COSIM,
    UNITS,
    UNIT,
    BASE_UNIT,
    TYPES,
    TYPE,       /* 2.0: SimpleType; 3.0: Float64Type, … */
    TYPE_VALUE, /* 2.0: Real, … within it */
    EXPERIMENT,
    VARIABLES,
    VARIABLE, /* 2.0: ScalarVariable; 3.0: Float64, … */
    VALUE,    /* 2.0: Real, … within it */
    DIMENSION,
    START,
    STRUCTURE,
    OUTPUTS, /* 2.0 */
    UNKNOWN  /* 2.0: Unknown; 3.0: Output */
};

static const struct {
    const char *names[4]; /* by version */
    double low, high;
} types[] = {
#define MECHD_FMU_TYPE(symbol, name2, name3, low, high) {{NULL, NULL, name2, name3}, low, high},
#include "server/engine/fmu_types.def"
#undef MECHD_FMU_TYPE
};

const char *mechd_fmu_type_name(enum mechd_fmu_type type)
{
    return types[type].names[MECHD_FMI_3];
}

void mechd_fmu_type_range(enum mechd_fmu_type type, double *low, double *high)
{
    *low = types[type].low;
    *high = types[type].high;
}

/* The type of an element, whose name may have `end` behind it; MECHD_FMU_TYPES: it is none. */
static enum mechd_fmu_type type_of(enum mechd_fmi_version version, const char *name,
                                   const char *end)
{
    unsigned k = 0;
    for (; k < MECHD_FMU_TYPES; k++) {
        const char *const known = types[k].names[version];
        const size_t length = known != NULL ? strlen(known) : 0;
        if (known != NULL && strncmp(name, known, length) == 0 && strcmp(name + length, end) == 0) {
            break;
        }
    }
    return (enum mechd_fmu_type)k;
}

static int read_root(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_description *const d = r->d;
    const char *const version = mechd_fmu_attribute(a, "fmiVersion");
    (void)element;
    // 3.0.1 and 3.0.2 say "3.0"; releases of 3.1 that are to come say so
    if (version != NULL && strcmp(version, "2.0") == 0) {
        d->version = MECHD_FMI_2;
    } else if (version != NULL && strcmp(version, "3.0") == 0) {
        d->version = MECHD_FMI_3;
    } else {
        char shown[32];
        mech_text_copy(shown, sizeof shown, version != NULL ? version : "");
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_VERSION, 0,
                                "fmiVersion: \"%s\" is not 2.0 or 3.0", shown);
    }
    MECH_TRY(mechd_fmu_read_text(r, a, "modelName", NULL, &d->name));
    MECH_TRY(mechd_fmu_read_text(r, a, "description", "", &d->description));
    MECH_TRY(mechd_fmu_read_text(r, a, "generationTool", "", &d->tool));
    return mechd_fmu_read_text(r, a, d->version == MECHD_FMI_2 ? "guid" : "instantiationToken",
                               NULL, &d->token);
}

static int read_cosim(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    // names in 2.0 and in 3.0; what both have alike stands twice
    static const struct {
        const char *name;
        unsigned bit;
    } flags[] = {
        {"canHandleVariableCommunicationStepSize", MECHD_FMU_VARIABLE_STEP},
        {"canGetAndSetFMUstate", MECHD_FMU_STATE},
        {"canGetAndSetFMUState", MECHD_FMU_STATE},
        {"canSerializeFMUstate", MECHD_FMU_SERIALIZE},
        {"canSerializeFMUState", MECHD_FMU_SERIALIZE},
        {"providesDirectionalDerivative", MECHD_FMU_DIRECTIONAL},
        {"providesDirectionalDerivatives", MECHD_FMU_DIRECTIONAL},
        {"providesAdjointDerivatives", MECHD_FMU_ADJOINT},
        {"canBeInstantiatedOnlyOncePerProcess", MECHD_FMU_ONCE},
        {"hasEventMode", MECHD_FMU_EVENTS},
        {"mightReturnEarlyFromDoStep", MECHD_FMU_EARLY_RETURN},
        {"providesIntermediateUpdate", MECHD_FMU_INTERMEDIATE},
        {"canReturnEarlyAfterIntermediateUpdate", MECHD_FMU_RETURNS},
        {"canInterpolateInputs", MECHD_FMU_INTERPOLATE},
        {"canRunAsynchronuously", MECHD_FMU_ASYNCHRONOUS},
        {"needsExecutionTool", MECHD_FMU_NEEDS_TOOL},
    };
    (void)element;
    if (r->has_cosim) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, 0, "CoSimulation occurs twice");
    }
    r->has_cosim = true;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        MECH_TRY(mechd_fmu_read_bit(r, a, flags[k].name, flags[k].bit, &r->d->can));
    }
    MECH_TRY(
        mechd_fmu_read_natural(r, a, "maxOutputDerivativeOrder", false, &r->d->derivative_order));
    MECH_TRY(mechd_fmu_read_number(r, a, "fixedInternalStepSize", &r->d->fixed_step));
    return mechd_fmu_read_text(r, a, "modelIdentifier", NULL, &r->d->identifier);
}

static int read_unit(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_unit *const unit = mechd_fmu_list_add(r, &r->units, sizeof *unit);
    (void)element;
    if (unit == NULL) {
        return r->outcome;
    }
    unit->factor = 1.;
    return mechd_fmu_read_text(r, a, "name", NULL, &unit->name);
}

static int read_base_unit(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    static const char *const names[] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    enum { EXPONENT_MOST = 99 };
    struct mechd_fmu_unit *const unit =
        (struct mechd_fmu_unit *)r->units.items + r->units.count - 1;
    (void)element;
    unit->based = true;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        double exponent = 0.;
        MECH_TRY(mechd_fmu_read_number(r, a, names[k], &exponent));
        if (!(fabs(exponent) <= EXPONENT_MOST) || exponent != floor(exponent)) {
            return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, 0,
                                    "%s: an exponent must be a whole number up to 99", names[k]);
        }
        unit->exponents[k] = (int)exponent;
    }
    MECH_TRY(mechd_fmu_read_number(r, a, "factor", &unit->factor));
    MECH_TRY(mechd_fmu_read_number(r, a, "offset", &unit->offset));
    if (!isfinite(unit->factor) || unit->factor == 0. || !isfinite(unit->offset)) {
        return mechd_fmu_refuse(
            r, MECHD_DESCRIPTION_CONTENT, 0,
            "unit %.64s: its factor and offset must be finite, and its factor not 0", unit->name);
    }
    return 0;
}

/* relativeQuantity; without the attribute *out stays as it is. */
static int read_quantity(struct mechd_fmu_reading *r, const char **a, enum mechd_fmu_quantity *out)
{
    static const char name[] = "relativeQuantity";
    unsigned relative = 0;
    MECH_TRY(mechd_fmu_read_bit(r, a, name, 1, &relative));
    if (mechd_fmu_attribute(a, name) != NULL) {
        *out = relative != 0 ? MECHD_FMU_RELATIVE : MECHD_FMU_ABSOLUTE;
    }
    return 0;
}

/* Unit and bounds, which types and variables have alike. */
static int read_bounds(struct mechd_fmu_reading *r, const char **a, const char **unit,
                       double *bounds[3])
{
    static const char *const names[] = {"min", "max", "nominal"};
    MECH_TRY(mechd_fmu_read_text(r, a, "unit", "", unit));
    for (size_t k = 0; k < 3; k++) {
        *bounds[k] = NAN;
        MECH_TRY(mechd_fmu_read_number(r, a, names[k], bounds[k]));
    }
    return 0;
}

static int read_type_value(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_declared *const t =
        (struct mechd_fmu_declared *)r->declared.items + r->declared.count - 1;
    double *bounds[] = {&t->minimum, &t->maximum, &t->nominal};
    (void)element;
    MECH_TRY(read_quantity(r, a, &t->quantity));
    return read_bounds(r, a, &t->unit, bounds);
}

static int read_type(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_declared *const t = mechd_fmu_list_add(r, &r->declared, sizeof *t);
    if (t == NULL) {
        return r->outcome;
    }
    MECH_TRY(mechd_fmu_read_text(r, a, "name", NULL, &t->name));
    return read_type_value(r, element, a);
}

static int read_experiment(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_description *const d = r->d;
    (void)element;
    MECH_TRY(mechd_fmu_read_number(r, a, "startTime", &d->start_time));
    MECH_TRY(mechd_fmu_read_number(r, a, "stopTime", &d->stop_time));
    MECH_TRY(mechd_fmu_read_number(r, a, "tolerance", &d->tolerance));
    return mechd_fmu_read_number(r, a, "stepSize", &d->step_size);
}

static struct mechd_fmu_variable *last_variable(const struct mechd_fmu_reading *r)
{
    return (struct mechd_fmu_variable *)r->variables.items + r->variables.count - 1;
}

/* What 2.0 says in the element of the type and 3.0 in the variable itself. */
static int read_value(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_variable *const v = last_variable(r);
    double *bounds[] = {&v->minimum, &v->maximum, &v->nominal};
    if (v->type != MECHD_FMU_TYPES) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, 0, "a variable with two types");
    }
    v->type = type_of(r->d->version, element, "");
    if (mechd_fmu_attribute(a, "declaredType") != NULL) {
        MECH_TRY(mechd_fmu_read_text(r, a, "declaredType", NULL, &v->declared_type));
    }
    if (mechd_fmu_attribute(a, "start") != NULL) {
        MECH_TRY(mechd_fmu_read_text(r, a, "start", NULL, &v->start_text));
    }
    MECH_TRY(read_quantity(r, a, &v->quantity));
    return read_bounds(r, a, &v->unit, bounds);
}

static int read_variable(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    static const char *const causalities[] = {
        "local",       "input", "output", "parameter", "calculatedParameter", "structuralParameter",
        "independent", NULL};
    static const char *const variabilities[] = {"constant", "fixed",      "tunable",
                                                "discrete", "continuous", NULL};
    static const char *const initials[] = {"", "exact", "approx", "calculated", NULL};
    struct mechd_fmu_variable *const v = mechd_fmu_list_add(r, &r->variables, sizeof *v);
    if (v == NULL) {
        return r->outcome;
    }
    r->dimension_count = 0;
    v->type = MECHD_FMU_TYPES;
    v->line = (int)XML_GetCurrentLineNumber(r->parser);
    MECH_TRY(mechd_fmu_read_text(r, a, "name", NULL, &v->name));
    MECH_TRY(mechd_fmu_read_text(r, a, "description", "", &v->description));
    MECH_TRY(mechd_fmu_read_natural(r, a, "valueReference", true, &v->reference));
    unsigned word = MECHD_FMU_LOCAL;
    MECH_TRY(mechd_fmu_read_word(r, a, "causality", causalities, &word));
    v->causality = (enum mechd_fmu_causality)word;
    // a variable that is no Real, or no Float of 3.0, is discrete if it says nothing
    const bool real = r->d->version == MECHD_FMI_2 || strncmp(element, "Float", 5) == 0;
    const bool parameter =
        v->causality >= MECHD_FMU_PARAMETER && v->causality <= MECHD_FMU_STRUCTURAL_PARAMETER;
    word = parameter && !(r->d->version == MECHD_FMI_2) ? MECHD_FMU_FIXED
           : real                                       ? MECHD_FMU_CONTINUOUS
                                                        : MECHD_FMU_DISCRETE;
    MECH_TRY(mechd_fmu_read_word(r, a, "variability", variabilities, &word));
    v->variability = (enum mechd_fmu_variability)word;
    word = MECHD_FMU_INITIAL_DEFAULT;
    MECH_TRY(mechd_fmu_read_word(r, a, "initial", initials, &word));
    v->initial = (enum mechd_fmu_initial)word;
    v->unit = "";
    word = 0;
    MECH_TRY(mechd_fmu_read_bit(r, a, "intermediateUpdate", 1, &word));
    v->within = word != 0;
    return r->d->version == MECHD_FMI_3 ? read_value(r, element, a) : 0;
}

static int read_dimension(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_dimension dimension = {0, MECHD_FMU_NO_VARIABLE};
    uint32_t size = 0, reference = 0;
    (void)element;
    const bool fixed = mechd_fmu_attribute(a, "start") != NULL;
    if (fixed == (mechd_fmu_attribute(a, "valueReference") != NULL)) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, 0,
                                "a dimension must have either start or valueReference");
    }
    if (r->dimension_count == MECHD_DESCRIPTION_DIMENSIONS_MOST) {
        return mechd_fmu_refuse(r, MECHD_DESCRIPTION_LIMIT, 0,
                                "an array with more than %d dimensions",
                                (int)MECHD_DESCRIPTION_DIMENSIONS_MOST);
    }
    MECH_TRY(mechd_fmu_read_natural(r, a, "start", fixed, &size));
    MECH_TRY(mechd_fmu_read_natural(r, a, "valueReference", !fixed, &reference));
    dimension.size = size;
    if (!fixed) {
        dimension.variable = reference; // until all variables are known
    }
    r->dimensions[r->dimension_count++] = dimension;
    return 0;
}

static int read_start(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_variable *const v = last_variable(r);
    (void)element;
    v->start_count++;
    return v->start_text == NULL ? mechd_fmu_read_text(r, a, "value", NULL, &v->start_text) : 0;
}

static int read_variables(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    (void)element;
    (void)a;
    r->has_variables = true;
    return 0;
}

static int read_unknown(struct mechd_fmu_reading *r, const char *element, const char **a)
{
    struct mechd_fmu_unknown *const u = mechd_fmu_list_add(r, &r->unknowns, sizeof *u);
    (void)element;
    if (u == NULL) {
        return r->outcome;
    }
    u->line = (int)XML_GetCurrentLineNumber(r->parser);
    if (mechd_fmu_attribute(a, "dependencies") != NULL) {
        MECH_TRY(mechd_fmu_read_text(r, a, "dependencies", NULL, &u->dependencies));
    }
    return mechd_fmu_read_natural(r, a, r->d->version == MECHD_FMI_2 ? "index" : "valueReference",
                                  true, &u->key);
}

enum { BOTH = 0 };

static const struct row {
    enum element parent;
    int version;
    const char *name; /* NULL: that of a type, with `end` behind it */
    const char *end;
    enum element element;
    int (*read)(struct mechd_fmu_reading *r, const char *element, const char **a);
} rows[] = {
    {DOCUMENT, BOTH, "fmiModelDescription", "", ROOT, read_root},
    {ROOT, BOTH, "CoSimulation", "", COSIM, read_cosim},
    {ROOT, BOTH, "UnitDefinitions", "", UNITS, NULL},
    {UNITS, BOTH, "Unit", "", UNIT, read_unit},
    {UNIT, BOTH, "BaseUnit", "", BASE_UNIT, read_base_unit},
    {ROOT, BOTH, "TypeDefinitions", "", TYPES, NULL},
    {TYPES, MECHD_FMI_2, "SimpleType", "", TYPE, read_type},
    {TYPE, MECHD_FMI_2, NULL, "", TYPE_VALUE, read_type_value},
    {TYPES, MECHD_FMI_3, NULL, "Type", TYPE, read_type},
    {ROOT, BOTH, "DefaultExperiment", "", EXPERIMENT, read_experiment},
    {ROOT, BOTH, "ModelVariables", "", VARIABLES, read_variables},
    {VARIABLES, MECHD_FMI_2, "ScalarVariable", "", VARIABLE, read_variable},
    {VARIABLE, MECHD_FMI_2, NULL, "", VALUE, read_value},
    {VARIABLES, MECHD_FMI_3, NULL, "", VARIABLE, read_variable},
    {VARIABLE, MECHD_FMI_3, "Dimension", "", DIMENSION, read_dimension},
    {VARIABLE, MECHD_FMI_3, "Start", "", START, read_start},
    {ROOT, BOTH, "ModelStructure", "", STRUCTURE, NULL},
    {STRUCTURE, MECHD_FMI_2, "Outputs", "", OUTPUTS, NULL},
    {OUTPUTS, MECHD_FMI_2, "Unknown", "", UNKNOWN, read_unknown},
    {STRUCTURE, MECHD_FMI_3, "Output", "", UNKNOWN, read_unknown},
};

static const struct row *find_row(const struct mechd_fmu_reading *r, const char *name)
{
    const int parent = r->depth > 0 ? r->open[r->depth - 1] : (int)DOCUMENT;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct row *const row = &rows[k];
        if ((int)row->parent != parent ||
            (row->version != BOTH && row->version != (int)r->d->version)) {
            continue;
        }
        if (row->name != NULL ? strcmp(row->name, name) == 0
                              : type_of(r->d->version, name, row->end) != MECHD_FMU_TYPES) {
            return row;
        }
    }
    return NULL;
}

static bool open_element(void *context, const char *name, const char **attributes)
{
    struct mechd_fmu_reading *const r = context;
    const struct row *const row = find_row(r, name);
    if (row == NULL && r->depth == 0) {
        (void)mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, 0,
                               "the document is not an fmiModelDescription");
    }
    if (row == NULL) {
        return false;
    }
    r->open[r->depth++] = (int)row->element;
    if (row->read != NULL) {
        (void)row->read(r, name, attributes);
    }
    return true;
}

static void close_element(void *context)
{
    struct mechd_fmu_reading *const r = context;
    const int element = r->open[--r->depth];
    if (element != (int)VARIABLE) {
        return;
    }
    struct mechd_fmu_variable *const v = last_variable(r);
    if (v->type == MECHD_FMU_TYPES) {
        (void)mechd_fmu_refuse(r, MECHD_DESCRIPTION_CONTENT, v->line, "a variable without a type");
    } else if (r->dimension_count > 0) {
        v->dimensions = mech_arena_alloc(&r->d->arena, r->dimension_count, sizeof *v->dimensions);
        if (v->dimensions == NULL) {
            (void)mechd_fmu_refuse(r, MECHD_DESCRIPTION_LIMIT, 0,
                                   "it needs more memory than is allowed");
            return;
        }
        memcpy(v->dimensions, r->dimensions, r->dimension_count * sizeof *v->dimensions);
        v->dimension_count = r->dimension_count;
    }
}

static void refuse_document(void *context, enum mechd_xml_fault fault, const char *text)
{
    static const int outcomes[] = {[MECHD_XML_SYNTAX] = MECHD_DESCRIPTION_XML,
                                   [MECHD_XML_DEEP] = MECHD_DESCRIPTION_LIMIT,
                                   [MECHD_XML_TYPE] = MECHD_DESCRIPTION_FORBIDDEN};
    (void)mechd_fmu_refuse(context, outcomes[fault], 0, "%s", text);
}

static int parse(struct mechd_fmu_reading *r, const char *text, size_t size)
{
    const struct mechd_xml how = {
        .context = r, .open = open_element, .close = close_element, .refuse = refuse_document};
    const int outcome = mechd_xml_read(r->parser, &how, text, size);
    return outcome < 0 ? outcome : r->outcome;
}

int mechd_fmu_description_read(const char *text, size_t size, struct mechd_fmu_description *out,
                               struct mech_diag *diag)
{
    *out = (struct mechd_fmu_description){
        .fixed_step = NAN, .start_time = NAN, .stop_time = NAN, .tolerance = NAN, .step_size = NAN};
    mech_arena_init(&out->arena, MECHD_DESCRIPTION_MEMORY_MOST);
    if (size > MECHD_DESCRIPTION_SIZE_MOST) {
        mech_diag_add(diag, "/modelDescription.xml", "has %zu bytes, more than %d", size,
                      (int)MECHD_DESCRIPTION_SIZE_MOST);
        return MECHD_DESCRIPTION_LIMIT;
    }
    struct mechd_fmu_reading r = {.d = out, .diag = diag, .parser = XML_ParserCreate(NULL)};
    int rc = r.parser != NULL ? parse(&r, text, size) : MECH_NO_MEMORY;
    if (rc == 0) {
        rc = mechd_fmu_resolve(&r);
    }
    XML_ParserFree(r.parser);
    if (rc != 0) {
        mechd_fmu_description_fini(out);
    }
    return rc;
}

void mechd_fmu_description_fini(struct mechd_fmu_description *d)
{
    if (d != NULL) {
        mech_arena_fini(&d->arena);
        *d = (struct mechd_fmu_description){0};
    }
}
