/* Terminals of all examples, 2.0 and 3.0, against the rules of FMI 3.0.2, section 2.4.9, and of
 * small models as they are expected. */
#include "protocol/fmi/terminals.h"

#include "tests/unit/protocol/fmi/xml_read.h"
#include "tests/verify/example.h"

#include <dirent.h>

struct ported {
    struct mechp_fmi_layout layout;
    struct mechp_text text;
    struct xml xml; /* of nothing if the text is empty */
};

static struct ported ports_of(const struct mech_sim *s, enum mechp_fmi_version version)
{
    struct ported p = {.xml = {.n = 0}};
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_layout_init(&p.layout, s, version), 0);
    mechp_text_init(&p.text, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(mechp_fmi_terminals(&p.layout, s, &p.text), 0);
    if (p.text.length > 0) {
        p.xml = xml_of(p.text.bytes, p.text.length);
    }
    return p;
}

static void forget(struct ported *p)
{
    xml_fini(&p->xml);
    mechp_text_fini(&p->text);
    mechp_fmi_layout_fini(&p->layout);
}

static const struct mechp_fmi_variable *variable_of(const struct ported *p, const char *name)
{
    for (size_t i = 0; i < p->layout.n; i++) {
        if (strcmp(p->layout.at[i].name, name) == 0) {
            return &p->layout.at[i];
        }
    }
    return NULL;
}

static bool is_a(const struct xml_element *e, const char *name)
{
    return strcmp(e->name, name) == 0;
}

/* No other element of that name has the same value here, back to the last `until`. */
static void check_unique(const struct ported *p, size_t at, const char *key, const char *until)
{
    const struct xml_element *const e = &p->xml.at[at];
    for (size_t k = at; k-- > 0 && !is_a(&p->xml.at[k], until);) {
        CU_ASSERT(!is_a(&p->xml.at[k], e->name) ||
                  strcmp(xml_get(&p->xml.at[k], key), xml_get(e, key)) != 0);
    }
}

static void check_member(const struct ported *p, size_t at)
{
    const struct xml_element *const e = &p->xml.at[at];
    const char *const kind = xml_get(e, "variableKind");
    CU_ASSERT_FATAL(xml_get(e, "variableName") && xml_get(e, "memberName") && kind);
    const struct mechp_fmi_variable *const v = variable_of(p, xml_get(e, "variableName"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(v);
    CU_ASSERT(v->causality == MECH_INPUT || v->causality == MECH_OUTPUT_VARIABLE);
    CU_ASSERT(strcmp(kind, "signal") == 0 || (strcmp(kind, "inflow") == 0 && v->size == 1));
    CU_ASSERT_STRING_EQUAL(e->parent, "Terminal");
    check_unique(p, at, "memberName", "Terminal");
    check_unique(p, at, "variableName", "fmiTerminalsAndIcons");
}

static void check_rules(const struct ported *p)
{
    for (size_t i = 0; i < p->xml.n; i++) {
        const struct xml_element *const e = &p->xml.at[i];
        if (is_a(e, "Terminal")) {
            CU_ASSERT_STRING_EQUAL(e->parent, "Terminals");
            CU_ASSERT_FATAL(xml_get(e, "name") && xml_get(e, "matchingRule"));
            CU_ASSERT_STRING_EQUAL(xml_get(e, "matchingRule"), "bus");
            check_unique(p, i, "name", "fmiTerminalsAndIcons");
            CU_ASSERT_FATAL(i + 1 < p->xml.n);
            CU_ASSERT_STRING_EQUAL(p->xml.at[i + 1].name, "TerminalMemberVariable");
        } else if (is_a(e, "TerminalMemberVariable")) {
            check_member(p, i);
        } else {
            CU_ASSERT_FATAL(i < 2);
            CU_ASSERT_STRING_EQUAL(e->name, i == 0 ? "fmiTerminalsAndIcons" : "Terminals");
        }
    }
    CU_ASSERT(p->xml.n == 0 || strcmp(xml_get(&p->xml.at[0], "fmiVersion"), "3.0") == 0);
}

static void the_rules_hold_for_all_examples(void)
{
    DIR *const folder = opendir(MECH_TESTS_FOLDER "/../server/examples");
    int terminals = 0;

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
            struct ported p = ports_of(s, (enum mechp_fmi_version)version);
            check_rules(&p);
            terminals += p.xml.n > 0;
            forget(&p);
        }
        mech_sim_destroy(s);
    }
    closedir(folder);
    CU_ASSERT(terminals >= 24);
}

/* "mass: Force=push> Position[1]=x; tip: …", ">" for an inflow */
static void check_ports(const struct mech_sim *s, enum mechp_fmi_version version, const char *want)
{
    struct ported p = ports_of(s, version);
    char text[2000] = "";
    size_t n = 0;
    for (size_t i = 2; i < p.xml.n; i++) {
        const struct xml_element *const e = &p.xml.at[i];
        CU_ASSERT_FATAL(n < sizeof text);
        if (is_a(e, "Terminal")) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:", i > 2 ? "; " : "",
                                  xml_get(e, "name"));
        } else {
            n += (size_t)snprintf(text + n, sizeof text - n, " %s=%s%s", xml_get(e, "memberName"),
                                  xml_get(e, "variableName"),
                                  strcmp(xml_get(e, "variableKind"), "inflow") == 0 ? ">" : "");
        }
    }
    if (strcmp(text, want) != 0) {
        fprintf(stderr, "got:  %s\nwant: %s\n", text, want);
    }
    CU_ASSERT_STRING_EQUAL(text, want);
    CU_ASSERT_EQUAL(p.text.length > 0, want[0] != '\0');
    check_rules(&p);
    forget(&p);
}

static void check_example(const char *name, enum mechp_fmi_version version, const char *want)
{
    struct mech_sim *const s = example_of(name);
    check_ports(s, version, want);
    mech_sim_destroy(s);
}

/* a load on the node's coordinate, sensors on the body of that node */
static void a_force_and_what_it_moves_are_one_terminal(void)
{
    static const char want[] = "mass: Force=force> Position[1]=x Velocity[1]=v";
    check_example("spring-mass-damper", MECHP_FMI_2, want);
    check_example("spring-mass-damper", MECHP_FMI_3, want);
    check_example("four-bar", MECHP_FMI_3,
                  "crank: Torque[3]=torque> Coordinates[3]=crank; rocker: Coordinates[3]=rocker; "
                  "coupler-point: Position=coupler");
}

/* an input that sets a parameter, a node of several elements, a point of a body, a moment */
static void parameters_and_moments_are_in_none(void)
{
    check_example("flexible-cantilever", MECHP_FMI_3,
                  "tip: Torque=torque Position=output:tip; strip-7: Rotation[1]=angle");
}

#define BODY                                                                                       \
    "{'mechd': 1, 'nodes': [{'type': 'NodeRigidBodyEP', 'name': 'n',"                              \
    " 'referenceCoordinates': [0, 0, 0, 1, 0, 0, 0]}],"                                            \
    " 'objects': [{'type': 'RigidBody', 'name': 'b', 'node': 'n', 'physicsMass': 1,"               \
    " 'physicsInertia': [1, 1, 1, 0, 0, 0]}],"                                                     \
    " 'markers': [{'type': 'MarkerBodyRigid', 'name': 'grip', 'object': 'b',"                      \
    " 'localPosition': [1, 0, 0]}, {'type': 'MarkerBodyRigid', 'name': 'b', 'object': 'b',"        \
    " 'localPosition': [0, 1, 0]}, {'type': 'MarkerNodeRigid', 'name': 'centre', 'node': 'n'}],"

/* six values of two units: two arrays in 3.0, six scalars in 2.0 */
static void forces_and_moments_of_one_marker_are_one_terminal(void)
{
    struct mech_sim *const s =
        model_of(BODY " 'sensors': [{'type': 'SensorMarker', 'name': 'v', 'marker': 'grip',"
                      " 'outputVariable': 'Velocity'}],"
                      " 'inputs': [{'name': 'grip', 'marker': 'grip'}]}");
    check_ports(s, MECHP_FMI_3, "grip: Force=grip:1 Velocity=v Torque=grip:2");
    check_ports(s, MECHP_FMI_2,
                "grip: Force[1]=grip[1] Force[2]=grip[2] Force[3]=grip[3] Torque[1]=grip[4]"
                " Torque[2]=grip[5] Torque[3]=grip[6] Velocity[1]=v[1] Velocity[2]=v[2]"
                " Velocity[3]=v[3]");
    mech_sim_destroy(s);
}

/* Two points of a body are two terminals; its origin and its node are one, which has its name as
 * the marker of the other point has. */
static void each_place_is_a_terminal_of_its_own(void)
{
    struct mech_sim *const s = model_of(
        BODY " 'sensors': [{'type': 'SensorBody', 'name': 'p', 'object': 'b',"
             " 'localPosition': [0, 1, 0], 'outputVariable': 'Position'},"
             "{'type': 'SensorBody', 'name': 'w', 'object': 'b',"
             " 'outputVariable': 'AngularVelocity'},"
             "{'type': 'SensorNode', 'name': 'x', 'node': 'n', 'outputVariable': 'Position'},"
             "{'type': 'SensorBody', 'name': 'again', 'object': 'b', 'outputVariable': 'Position'},"
             "{'type': 'SensorBody', 'name': 'a', 'object': 'b',"
             " 'outputVariable': 'Acceleration'},"
             "{'type': 'SensorMarker', 'name': 'g', 'marker': 'grip',"
             " 'outputVariable': 'Position'}],"
             " 'inputs': [{'name': 'turn', 'marker': 'b', 'component': 4}]}");
    check_ports(s, MECHP_FMI_3,
                "b: Torque[2]=turn Position=p; b:2: AngularVelocity=w Position=x; "
                "grip: Position=g");
    mech_sim_destroy(s);
}

static void a_model_without_places_has_no_terminals(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'type': 'NodePointGround', 'name': 'g'}]}");
    check_ports(s, MECHP_FMI_3, "");
    check_ports(s, MECHP_FMI_2, "");
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(the_rules_hold_for_all_examples),
           UNIT_TEST(a_force_and_what_it_moves_are_one_terminal),
           UNIT_TEST(parameters_and_moments_are_in_none),
           UNIT_TEST(forces_and_moments_of_one_marker_are_one_terminal),
           UNIT_TEST(each_place_is_a_terminal_of_its_own),
           UNIT_TEST(a_model_without_places_has_no_terminals))
