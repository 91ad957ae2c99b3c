/* Runs of a coupling. A run is one of the coupling's face (face.h), with the state, the rows and
 * the pace of any run (instance/runs.h); each of its turns is a command of the coupling, which
 * steps windows to the end of a period, then to the end of the next one, for about a millisecond.
 * Other commands wait for a turn at most. */
#pragma once

#include "server/coupling/coupling.h"

/* The next turn of a run of a face (mechd_instance.turns). */
enum mechd_submitted mechd_turn_submit(struct mechd_run *r);
/* What the last stability report says of the windows of r is shown with it; as the owner of all. */
void mechd_turn_warn(const struct mechd_coupling *g, struct mechd_run *r);
/* The windows that were asked for are done: k->until is the end of the next period. False: there is
 * none in this turn. As the owner of all. */
bool mechd_turn_next(struct mechd_coupling_command *k);
/* A window of a run is done and published, and ends a period: the run counts that, before anything
 * else can end the turn. As that owner. */
void mechd_turn_window(struct mechd_coupling_command *k);
/* It changes the state, or starts a run, while one is in progress. As that owner. */
bool mechd_turn_disturbed(const struct mechd_coupling_command *k);
/* What the turn has led to, in place of an answer. As that owner. */
void mechd_turn_settle(struct mechd_coupling_command *k);
/* The turn is over, and freed; `held`: it has had the face. */
void mechd_turn_over(struct mechd_coupling_command *k, bool held);
