/* One body of tree.h. With d the k of its m velocities that its rows determine, f the others:
 *
 *     E = (G_d)⁻¹,  x_d = c + P x_p + N f,    c = E s,  P = −E G_p,  N = −E G_f
 *     X = S [P; 0] + S_ip,   Z = S [N; 1],    A = [N; 1]ᵀ Z,  B = A⁻¹ [N; 1]ᵀ X
 *     C = [P; 0]ᵀ Z + S_pi [N; 1]
 *     S_p += [P; 0]ᵀ X + S_pi [P; 0] − C B
 *
 *     forward    t = r − S [c; 0],   z = A⁻¹ [N; 1]ᵀ t,   r_p += Pᵀ t_d − S_pi [c; 0] − C z
 *     backward   f = z − B x_p,      μ = Eᵀ (t_d − X_d x_p − Z_d f)
 *
 * d is chosen row by row as the largest entry that is left. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MECH_TREE_MOST = 6 };

struct mech_tree_kernel;

struct mech_tree_link {
    const struct mech_tree_kernel *kernel;
    int8_t m, k, mp; /* velocities, rows, velocities of the parent (0: the ground) */
    /* of the last factor */
    bool coupled;                 /* S_ip or S_pi is not zero */
    int8_t order[MECH_TREE_MOST]; /* [m] the k of d by rows, then f */
    int8_t swap[MECH_TREE_MOST];  /* [m − k] rows of A */
    int32_t parent;               /* link, or −1 */
    int32_t x, xp;                /* first velocity, and the parent's */
    const int32_t *row;           /* [k] places of the rows in the vector */
    size_t value, parent_value;   /* first of S [m m], G_i [k m], G_p [k mp], S_ip [m mp], S_pi */
    size_t factor;                /* first of E P N X_d Z_d A B C */
};

struct mech_tree_kernel {
    int8_t m, k, mp; /* −1: any */
    /* 0, or MECH_SINGULAR */
    int (*factor)(struct mech_tree_link *l, double *values, double *factors);
    void (*forward)(const struct mech_tree_link *l, double *values, double *factors, double *x);
    void (*backward)(const struct mech_tree_link *l, double *factors, double *x);
};

/* The kernel for a body of these sizes. */
const struct mech_tree_kernel *mech_tree_kernel_find(int32_t m, int32_t k, int32_t mp);
/* Values and factors of a body. */
size_t mech_tree_link_values(const struct mech_tree_link *l);
size_t mech_tree_link_factors(const struct mech_tree_link *l);
