/* Matrices to JSON: each stored form in the written form that reads back to it. Zeros are no places
 * of a pattern (read_matrix.c), so that a matrix read again has the same form and the same bits.
 */
#include "protocol/bind/writer.h"

static void write_diag(struct mechp_writer *s, const struct mech_mat *a)
{
    mechp_text_key(s->w, "diag");
    mechp_text_array(s->w);
    for (int32_t i = 0; i < a->rows; i++) {
        mechp_writer_number(s, a->values + i);
    }
    mechp_text_end(s->w);
}

static void write_band(struct mechp_writer *s, const struct mech_mat *a)
{
    mechp_text_key(s->w, "banded");
    mechp_text_object(s->w);
    mechp_text_key(s->w, "lower");
    mechp_text_integer(s->w, a->lower);
    mechp_text_key(s->w, "upper");
    mechp_text_integer(s->w, a->upper);
    mechp_text_key(s->w, "rows");
    mechp_text_array(s->w);
    for (int32_t i = 0; i < a->rows; i++) {
        mechp_text_array(s->w);
        for (int32_t d = 0; d <= a->lower + a->upper; d++) {
            mechp_writer_number(s, a->values + (size_t)d * (size_t)a->rows + i);
        }
        mechp_text_end(s->w);
    }
    mechp_text_end(s->w);
    mechp_text_end(s->w);
}

static void write_dense(struct mechp_writer *s, const struct mech_mat *a)
{
    mechp_text_array(s->w);
    for (int32_t i = 0; i < a->rows; i++) {
        mechp_text_array(s->w);
        for (int32_t j = 0; j < a->cols; j++) {
            mechp_writer_number(s, a->values + (size_t)j * (size_t)a->rows + i);
        }
        mechp_text_end(s->w);
    }
    mechp_text_end(s->w);
}

static void write_coo(struct mechp_writer *s, const struct mech_mat *a)
{
    mechp_text_key(s->w, "shape");
    mechp_text_array(s->w);
    mechp_text_integer(s->w, a->rows);
    mechp_text_integer(s->w, a->cols);
    mechp_text_end(s->w);
    mechp_text_key(s->w, "coo");
    mechp_text_array(s->w);
    for (int32_t j = 0; a->kind == MECH_MAT_CSC && j < a->cols; j++) {
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            mechp_text_array(s->w);
            mechp_text_integer(s->w, a->rowind[k]);
            mechp_text_integer(s->w, j);
            mechp_writer_number(s, a->values + k);
            mechp_text_end(s->w);
        }
    }
    mechp_text_end(s->w);
}

void mechp_writer_matrix(struct mechp_writer *s, const struct mech_mat *a)
{
    if (a->kind == MECH_MAT_DENSE) {
        write_dense(s, a);
        return;
    }
    mechp_text_object(s->w);
    if (a->kind == MECH_MAT_DIAG) {
        write_diag(s, a);
    } else if (a->kind == MECH_MAT_BAND) {
        write_band(s, a);
    } else {
        write_coo(s, a);
    }
    mechp_text_end(s->w);
}
