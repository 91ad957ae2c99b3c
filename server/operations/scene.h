/* Bodies as GET …/scene shows them. owner: one request. */
#pragma once

#include "protocol/wire/text.h"
#include "solver/sim/mech.h"

/* Append the array of the bodies that are drawn, each with position, rotation and shapes. */
void mechd_scene_bodies(const struct mech_sim *sim, struct mechp_text *w);
