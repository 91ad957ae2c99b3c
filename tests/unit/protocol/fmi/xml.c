/* XML text: escapes, numbers, and what the tests' own reader takes from it. */
#include "protocol/fmi/xml.h"

#include "tests/unit/protocol/fmi/xml_read.h"

static void what_is_written_is_read_back(void)
{
    static const char odd[] = "a<b> & \"c\"\n\td \xc3\xbc";
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    const double values[] = {0.1, -0., 1e300};
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    mechp_text_plain(&w, declaration, sizeof declaration - 1);
    mechp_xml_open(&w, 0, "Outer");
    mechp_xml_text(&w, "name", odd);
    mechp_xml_true(&w, "yes", true);
    mechp_xml_true(&w, "no", false);
    mechp_xml_inside(&w);
    mechp_xml_open(&w, 1, "Inner");
    mechp_xml_integer(&w, "n", -7);
    mechp_xml_reals(&w, "start", values, 3);
    mechp_xml_close(&w);
    mechp_xml_end(&w, 0, "Outer");
    struct xml x = xml_of(w.bytes, w.length);
    CU_ASSERT_EQUAL_FATAL(x.n, 2);
    CU_ASSERT_STRING_EQUAL(xml_get(&x.at[0], "name"), odd);
    CU_ASSERT_STRING_EQUAL(xml_get(&x.at[0], "yes"), "true");
    CU_ASSERT_PTR_NULL(xml_get(&x.at[0], "no"));
    CU_ASSERT_STRING_EQUAL(x.at[1].parent, "Outer");
    CU_ASSERT_STRING_EQUAL(xml_get(&x.at[1], "n"), "-7");
    CU_ASSERT_STRING_EQUAL(xml_get(&x.at[1], "start"), "0.1 -0.0 1e+300");
    xml_fini(&x);
    mechp_text_fini(&w);
}

/* FMI's texts are attributes; a character that XML has no form for is a space */
static void control_characters_are_spaces(void)
{
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    mechp_xml_text(&w, "a", "x\001y");
    CU_ASSERT_EQUAL_FATAL(w.length, 8);
    CU_ASSERT_EQUAL(memcmp(w.bytes, " a=\"x y\"", 8), 0);
    mechp_text_fini(&w);
}

/* XML 1.0, section 2.2: U+FFFD is the last of its plane; characters of higher planes are taken */
static void what_is_no_character_of_xml_is_a_space(void)
{
    static const char text[] = "\xef\xbf\xbd|\xef\xbf\xbe|\xef\xbf\xbf|\xf0\x9f\xbf\xbe|\xef\xbf";
    static const char want[] = " a=\"\xef\xbf\xbd| | |\xf0\x9f\xbf\xbe|\xef\xbf\"";
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    mechp_xml_text(&w, "a", text);
    CU_ASSERT_EQUAL_FATAL(w.length, sizeof want - 1);
    CU_ASSERT_EQUAL(memcmp(w.bytes, want, w.length), 0);
    mechp_text_fini(&w);
}

UNIT_TESTS(UNIT_TEST(what_is_written_is_read_back), UNIT_TEST(control_characters_are_spaces),
           UNIT_TEST(what_is_no_character_of_xml_is_a_space))
