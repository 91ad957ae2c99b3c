/* terminalsAndIcons/terminalsAndIcons.xml of an FMU: its ports, as FMI calls them terminals. Each
 * place of the mechanism that loads act on, or whose motion is measured, is one: a point of a body,
 * or a node. Its members are
 *
 *   Force, Torque            inputs: loads on markers there, and forces on the markers themselves
 *   Position, Velocity, …    outputs that follow from coordinates and velocities alone, by their
 *                            names in models
 *
 * and one element of a vector is "Force[1]" (2.0 has no others). A body of one node is at the same
 * place with its origin as that node is. Inputs that set parameters, and outputs of forces,
 * accelerations, joints and connectors are in no terminal; nor is what has the same name as an
 * earlier member of its terminal.
 *
 * A terminal has the name of its first variable's marker where that is a point, else of the body or
 * the node; a name that is taken gets a number, "tip:2", behind a character that no name of a model
 * contains. The rule of matching is "bus": a partner connects the members that it has. The force on
 * one coordinate is an "inflow"; all others are signals, because FMI has flows of scalars alone.
 *
 * Source: FMI 3.0.2, section 2.4.9; FMI 2.0.5, section 2.3, where the file has version 3.0 too.
 */
#pragma once

#include "protocol/fmi/layout.h"
#include "protocol/wire/text.h"

/* Append the document; nothing if there is no terminal. 0; MECH_NO_MEMORY. */
int mechp_fmi_terminals(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                        struct mechp_text *w);
