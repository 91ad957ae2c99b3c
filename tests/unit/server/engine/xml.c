/* Elements of documents that come from outside. */
#include "server/engine/xml.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* Names of elements that begin, ")" of those that end, and "!" of a fault. */
struct noted {
    XML_Parser parser;
    char text[256];
    int fault;      /* −1: none */
    char said[128]; /* its words */
};

static void note(struct noted *n, const char *text)
{
    strncat(n->text, text, sizeof n->text - strlen(n->text) - 1);
}

/* Those that begin with a capital letter are known; "Stop" stops. */
static bool open_element(void *context, const char *name, const char **attributes)
{
    struct noted *const n = context;

    (void)attributes;
    if (name[0] < 'A' || name[0] > 'Z') {
        return false;
    }
    note(n, name);
    if (strcmp(name, "Stop") == 0) {
        (void)XML_StopParser(n->parser, XML_FALSE);
    }
    return true;
}

static void close_element(void *context)
{
    note(context, ")");
}

static void refuse(void *context, enum mechd_xml_fault fault, const char *text)
{
    struct noted *const n = context;

    CU_ASSERT(text[0] != '\0');
    CU_ASSERT_EQUAL(n->fault, -1);
    n->fault = (int)fault;
    note(n, "!");
    (void)snprintf(n->said, sizeof n->said, "%s", text);
    (void)XML_StopParser(n->parser, XML_FALSE);
}

static struct noted read(const char *text, int outcome)
{
    struct noted n = {.parser = XML_ParserCreate(NULL), .fault = -1};
    const struct mechd_xml how = {&n, open_element, close_element, refuse};

    CU_ASSERT_PTR_NOT_NULL_FATAL(n.parser);
    CU_ASSERT_EQUAL(mechd_xml_read(n.parser, &how, text, strlen(text)), outcome);
    XML_ParserFree(n.parser);
    return n;
}

static void expect(const char *text, int outcome, int fault, const char *noted)
{
    const struct noted n = read(text, outcome);

    CU_ASSERT_EQUAL(n.fault, fault);
    CU_ASSERT_STRING_EQUAL(n.text, noted);
}

static void what_is_not_known_is_passed_over_with_all_within_it(void)
{
    expect("<A><B/><x><B><y/></B><x/></x><C>text<B/></C></A>", 0, -1, "AB)CB)))");
    expect("<x><A/></x>", 0, -1, "");
}

static void faults_are_reported_once(void)
{
    expect("<A><B></A>", 1, MECHD_XML_SYNTAX, "AB!");
    expect("", 1, MECHD_XML_SYNTAX, "!");
    expect("<!DOCTYPE A [<!ENTITY e 'x'>]><A>&e;</A>", 1, MECHD_XML_TYPE, "!");
}

static void what_is_not_seen_is_named(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "the document is empty"},
        {"\xef\xbb\xbf \n", "the document is empty"},
        {"<A>\n <B\xc2\xa0x=''/></A>", "column 4: U+00A0 (no-break space) is not allowed here"},
        {"\xef\xbb\xbf<A>\xe2\x80\x8b<\xe2\x80\x8b",
         "column 6: U+200B (zero width space) is not allowed"
         " here"},
        {"<A>\x01</A>", "column 4: U+0001 is not allowed here"},
        {"\xc3\xa4", "column 1: U+00E4 is not allowed here"},
        {"<A>\xc3\xa4\xff</A>", "column 5: the byte 0xff (not UTF-8) is not allowed here"},
        {"<A/>\xe2\x80\x8b", "column 5: U+200B (zero width space) is not allowed here"},
        {"<A>\n\xc3\xa4</A>\xc2\xa0", "column 6: U+00A0 (no-break space) is not allowed here"},
        // what is not the fault of the character there
        {"<A><B></A>", "mismatched tag"},
        {"<A><B></\xc3\x84></A>", "mismatched tag"},
        {"<A>\n", "no element found"},
        {"<A>\r", "no element found"},
        {"<A b='1'\nb='2'/>", "duplicate attribute"},
        {"<?xml version='1.0' encoding='ISO-8859-1'?><A>\xe4\x01</A>",
         "not well-formed (invalid token)"},
    };

    expect("\xef\xbb\xbf<A/>", 0, -1, "A)");
    expect("<?xml version='1.0' encoding='ISO-8859-1'?><A x='\xe4'>\xa0</A>", 0, -1, "A)");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct noted n = read(cases[k].text, 1);

        CU_ASSERT_EQUAL(n.fault, MECHD_XML_SYNTAX);
        CU_ASSERT_STRING_EQUAL(n.said, cases[k].said);
        if (strcmp(n.said, cases[k].said) != 0) {
            (void)printf("    %s\n", n.said);
        }
    }
}

static void a_stop_is_the_end(void)
{
    expect("<A><Stop/><B/></A>", 1, -1, "AStop");
}

/* known ones and others alike */
static void elements_are_so_deep_at_most(void)
{
    char text[8 * MECHD_XML_DEPTH_MOST + 64];

    for (int more = 0; more <= 1; more++) {
        text[0] = '\0';
        for (int k = 0; k < MECHD_XML_DEPTH_MOST + more; k++) {
            strcat(text, k < 2 ? "<A>" : "<x>");
        }
        for (int k = MECHD_XML_DEPTH_MOST + more; k-- > 0;) {
            strcat(text, k < 2 ? "</A>" : "</x>");
        }
        expect(text, more, more ? MECHD_XML_DEEP : -1, more ? "AA!" : "AA))");
    }
}

UNIT_TESTS(UNIT_TEST(what_is_not_known_is_passed_over_with_all_within_it),
           UNIT_TEST(faults_are_reported_once), UNIT_TEST(what_is_not_seen_is_named),
           UNIT_TEST(a_stop_is_the_end), UNIT_TEST(elements_are_so_deep_at_most))
