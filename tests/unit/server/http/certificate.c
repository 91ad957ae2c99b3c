/* The dates of a certificate, read from DER that is made here, and from every part of it. */
#include "server/http/certificate.h"

#include "tests/unit/unit.h"

#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 512 };

/* Append one value to out; returns its end. */
static size_t put(unsigned char *out, size_t at, int tag, const void *bytes, size_t length)
{
    out[at++] = (unsigned char)tag;
    if (length > 127) {
        out[at++] = 0x81;
    }
    out[at++] = (unsigned char)length;
    memmove(out + at, bytes, length);
    return at + length;
}

/* A certificate as far as it is looked at, in DER; its length. */
static size_t make(const char *from, const char *until, bool has_version, unsigned char *out)
{
    static const unsigned char one[] = {2, 1, 1};
    unsigned char dates[64], body[256], issuer[130] = {0};
    const int kinds[2] = {strlen(from) == 13 ? 0x17 : 0x18, strlen(until) == 13 ? 0x17 : 0x18};
    size_t n = put(dates, 0, kinds[0], from, strlen(from));
    n = put(dates, n, kinds[1], until, strlen(until));
    size_t at = has_version ? put(body, 0, 0xa0, one, sizeof one) : 0;
    at = put(body, at, 2, one + 2, 1);
    at = put(body, at, 0x30, "", 0);
    at = put(body, at, 0x30, issuer, sizeof issuer);
    at = put(body, at, 0x30, dates, n);
    unsigned char inner[ROOM];
    const size_t whole = put(inner, 0, 0x30, body, at);
    return put(out, 0, 0x30, inner, whole);
}

static int read_pem(const unsigned char *der, size_t length, time_t *from, time_t *until)
{
    char text[2 * ROOM];
    char pem[2 * ROOM + 128];
    sodium_bin2base64(text, sizeof text, der, length, sodium_base64_VARIANT_ORIGINAL);
    snprintf(pem, sizeof pem,
             "a comment\n-----BEGIN CERTIFICATE-----\n%.40s\r\n%s\n-----END CERTIFICATE-----\n",
             text, strlen(text) > 40 ? text + 40 : "");
    return mechd_certificate_dates(pem, from, until);
}

static void dates_are_seconds_of_the_calendar(void)
{
    static const struct {
        const char *text;
        time_t seconds; /* by the C library of Python, calendar.timegm */
    } dates[] = {
        {"700101000000Z", 0},
        {"20240229120000Z", 1709208000},
        {"491231235959Z", 2524607999},
        {"500101000000Z", -631152000},
        {"21000301000000Z", 4107542400},
        {"001231000001Z", 978220801},
    };
    for (size_t k = 0; k < sizeof dates / sizeof *dates; k++) {
        unsigned char der[ROOM];
        time_t from = -1, until = -1;
        const size_t n = make(dates[k].text, "300101000000Z", k % 2 == 0, der);
        CU_ASSERT_EQUAL(read_pem(der, n, &from, &until), 0);
        CU_ASSERT_EQUAL(from, dates[k].seconds);
        CU_ASSERT_EQUAL(until, 1893456000);
    }
}

static void what_is_no_certificate_has_no_dates(void)
{
    time_t from, until;
    static const char *const bad[] = {
        "",
        "text",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN CERTIFICATE----------END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----",
        "-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nMAA=\n",
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CU_ASSERT_NOT_EQUAL(mechd_certificate_dates(bad[k], &from, &until), 0);
    }
    static const char *const times[] = {"700101000000",  "7001010000000", "70010100000aZ",
                                        "701301000000Z", "700001000000Z", "1970010100000Z"};
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        unsigned char der[ROOM];
        const size_t n = make(times[k], "300101000000Z", true, der);
        CU_ASSERT_NOT_EQUAL(read_pem(der, n, &from, &until), 0);
    }
}

static void a_part_of_a_certificate_is_none(void)
{
    unsigned char der[ROOM];
    time_t from, until;
    const size_t n = make("700101000000Z", "300101000000Z", true, der);
    for (size_t k = 0; k < n; k++) {
        CU_ASSERT_NOT_EQUAL(read_pem(der, k, &from, &until), 0);
    }
    for (size_t k = 0; k < n; k++) {
        for (int value = 0; value < 256; value += 17) {
            const unsigned char was = der[k];
            der[k] = (unsigned char)value;
            (void)read_pem(der, n, &from, &until);
            der[k] = was;
        }
    }
    CU_ASSERT_EQUAL(read_pem(der, n, &from, &until), 0);
}

UNIT_TESTS(UNIT_TEST(dates_are_seconds_of_the_calendar),
           UNIT_TEST(what_is_no_certificate_has_no_dates),
           UNIT_TEST(a_part_of_a_certificate_is_none))
