/* What routes and their parameters are for, in sentences: for OpenAPI and /docs. */
#include "protocol/bind/shapes.h"

#include <string.h>

const struct mechp_tag mechp_tags[] = {
    {"service", "Probes, documents, the page, and what this server is."},
    {"models", "What models are made of: item types, ready models, checks without an instance."},
    {"instances", "Life of an instance: a model with its state."},
    {"stepping", "Time goes on: steps, trials, runs, live events."},
    {"values", "What goes in and out by name, the whole state, fields of live items."},
    {"snapshots", "States that are kept, in memory or as bytes."},
    {"analysis", "Equilibrium, vibrations, derivatives, the equations at any point."},
    {"sweeps", "One model over many sets of parameters."},
    {"system",
     "The system descriptor [H -CqT; Cq E] of the present state: its parts, products with it."},
    {"view", "What a viewer draws."},
    {NULL, NULL},
};

static const struct mechp_route_text texts[MECHP_ROUTES] = {
    [MECHP_ROUTE_PAGE] =
        {"service", "The dashboard in a browser. Everything that it loads comes from this server."},
    [MECHP_ROUTE_DOCS] =
        {"service",
         "This document, laid out for reading. It works without scripts and without a network."},
    [MECHP_ROUTE_LIVEZ] =
        {"service",
         "Answers as long as the process does. Asks for no token, waits for no instance."},
    [MECHP_ROUTE_METRICS] =
        {"service", "Counters, gauges and histograms in the text format of Prometheus: requests by "
                    "route and status, steps, queues, bytes, frames that were dropped."},
    [MECHP_ROUTE_OPENAPI] = {"service",
                             "This document, printed from the tables by which the server works."},
    [MECHP_ROUTE_READYZ] =
        {"service", "200 while all doors are open and changes can be stored; 503 before, and as "
                    "soon as the end has begun; 507 while the disk takes no records."},
    [MECHP_ROUTE_QUOTA] = {"service", "Limits as the line of the token and --quota have them, and "
                                      "what its instances, runs and sweeps hold."},
    [MECHP_ROUTE_ABOUT] = {"service",
                           "What is running: version, build, libraries with their versions, and "
                           "the limits beyond which requests are refused."},
    [MECHP_ROUTE_EXAMPLES] = {"models",
                              "Names and titles of the models that the server brings along."},
    [MECHP_ROUTE_EXAMPLE] =
        {"models", "The model document, as it could be sent with a request to create an instance."},
    [MECHP_ROUTE_BATCH] =
        {"stepping", "One operation over many instances, or a list of operations, on all workers. "
                     "What fails stands in its result; the others go on. Operations on the same "
                     "instance follow each other in the order of the request."},
    [MECHP_ROUTE_INSTANCES] = {"instances", "In the order of creation, a page at a time: `next` of "
                                            "one page is `after` of the following one. `label`: "
                                            "those that have all of `name=value,name`."},
    [MECHP_ROUTE_CREATE] = {"instances",
                            "Exactly one of `model`, `example` and `snapshot` says what it is made "
                            "from; the bytes of a snapshot may also be the whole body. Faults of a "
                            "model come all at once, each with its pointer."},
    [MECHP_ROUTE_DELETE] =
        {"instances", "The id is free at once. A command in progress stops at its next slice and "
                      "answers `cancelled`, those that wait answer `instance-not-found`."},
    [MECHP_ROUTE_INSTANCE] = {"instances", "Sizes, names, time, memory, and the run in progress."},
    [MECHP_ROUTE_EDIT] =
        {"instances", "`labels` are replaced as a whole. A `ttl` counts from here on: any request "
                      "that names the instance renews it, a list does not. The revision grows; the "
                      "state is the same, and a trial stays."},
    [MECHP_ROUTE_CREATE_AS] = {"instances", "As POST /v1/instances, under the id of the path."},
    [MECHP_ROUTE_CLONE] =
        {"instances", "The copy has the model and the state of the original: its next step gives "
                      "the same bits. Snapshots, partners and a run stay with the original."},
    [MECHP_ROUTE_COMMIT] = {"stepping",
                            "The state becomes the one at the end of that trial. Any other "
                            "change has discarded it: 409. What changes no state leaves it: "
                            "labels and time to live, snapshots, leases."},
    [MECHP_ROUTE_CONTACTS] =
        {"view",
         "Points at which shapes touched in the last internal step, with forces and impulses."},
    [MECHP_ROUTE_EVALUATE] = {"analysis",
                              "Left-hand side, right-hand side, mass matrix, forces and their "
                              "derivatives at the point that the body describes; what it leaves "
                              "out is as in the present state. Nothing changes."},
    [MECHP_ROUTE_EVENTS] = {"stepping",
                            "Server-sent events with time and outputs, at most `rate` a second, as "
                            "long as the connection lasts. The newest values are told; with the id "
                            "of those that are there now as Last-Event-ID it waits for others."},
    [MECHP_ROUTE_GET_INPUTS] = {"values", "The values that act now, by name."},
    [MECHP_ROUTE_SET_INPUTS] =
        {"values", "Inputs that are not named keep their values; null gives one back to the model. "
                   "With derivatives an input is extrapolated during the next steps."},
    [MECHP_ROUTE_JVP] = {"analysis", "Derivatives of the end of a step by a direction in state and "
                                     "inputs, without taking the step."},
    [MECHP_ROUTE_DROP_LEASE] =
        {"instances", "Gives up the lease of the header `Lease`. With `of` it ends those that "
                      "others have in this role, which needs the scope `admin`."},
    [MECHP_ROUTE_LEASES] = {"instances", "Roles, names, channels and times; never the numbers."},
    [MECHP_ROUTE_CHANGE_LEASE] =
        {"instances", "The lease of the header `Lease` begins anew, with what the body changes."},
    [MECHP_ROUTE_TAKE_LEASE] =
        {"instances",
         "An `owner` alone changes the instance; a `co-driver` sets the inputs of its "
         "`channels`, whoever owns it; an `observer` is told of in the list. The "
         "number that comes back is shown in the header `Lease` of further requests. "
         "A holder that is silent for its `seconds` loses it; a command whose client has closed "
         "the connection ends with it."},
    [MECHP_ROUTE_LINEARIZATION] =
        {"analysis",
         "Matrices of z' = A z + B u, y = C z + D u, on the motions that the joints allow."},
    [MECHP_ROUTE_MODEL] = {"instances",
                           "The document with the fields that have been changed since. Its "
                           "parameters are those that it was given with: what they are now, "
                           "GET …/parameters tells."},
    [MECHP_ROUTE_MODES] = {"analysis",
                           "Frequencies, damping ratios and shapes of the lowest modes; undamped, "
                           "or complex with damping and gyroscopic terms."},
    [MECHP_ROUTE_SET_FIELD] =
        {"values", "The model is made anew with the changed field and goes on from the present "
                   "state: stiffness, mass, active, and whatever else GET /v1/types lists."},
    [MECHP_ROUTE_ITEM_OUTPUT] =
        {"values", "Position, Velocity, Rotation, Force and the like of any node, object, marker, "
                   "load or sensor, at a point of it and in any configuration."},
    [MECHP_ROUTE_OUTPUTS] = {"values", "The values after the last communication step, by name. As "
                                       "rows, time comes first, then each value of each output."},
    [MECHP_ROUTE_GET_PARAMETERS] = {"values", "The values that the model has now, by name."},
    [MECHP_ROUTE_SET_PARAMETERS] = {"values", "Parameters that are not named keep their values. "
                                              "One that shapes the model cannot be changed."},
    [MECHP_ROUTE_RESET] = {"instances", "Time, state, inputs and parameters are as after the "
                                        "creation; fields that were changed stay so."},
    [MECHP_ROUTE_RUNS] = {"stepping", "The last 16 runs of the instance, newest first."},
    [MECHP_ROUTE_START_RUN] =
        {"stepping", "The instance is stepped by the server, paced by the clock or as fast as it "
                     "goes, while other commands get their turn between two periods. One run at a "
                     "time: meanwhile other changes of the state are refused with 409. Rows that "
                     "are recorded are at most 64 MiB in memory, or 1 GiB on the disk where the "
                     "instance is stored; older runs make room."},
    [MECHP_ROUTE_RUN_EVENTS] =
        {"stepping", "Server-sent events: `row` for every recorded row, with its number as id; "
                     "`progress`, at most `rate` a second; `end` at last. With Last-Event-ID it "
                     "goes on behind that row, also in the next process."},
    [MECHP_ROUTE_DELETE_RESULTS] =
        {"stepping", "The rows of a run that is over are forgotten, the run itself stays."},
    [MECHP_ROUTE_STOP_RUN] =
        {"stepping",
         "The run ends at once: a period in progress is undone, and the state is that of "
         "its start. What the run has recorded stays."},
    [MECHP_ROUTE_STOP] =
        {"stepping",
         "The first step, derivative or equilibrium that is in progress or waits ends soon: "
         "it answers `cancelled`, and the state is that of before. Takes no place in "
         "the queue; what else waits there goes on, and another stop ends the next "
         "one. A run is stopped by its own route."},
    [MECHP_ROUTE_RUN] = {"stepping",
                         "How far it is, how often it was late, and why it failed if it did."},
    [MECHP_ROUTE_RESULTS] =
        {"stepping", "Rows of time and outputs of a run with `record`, also while it goes "
                     "on; `from` and `to` cut out a span of time, `outputs` names columns. "
                     "Of more rows than `limit`, `next` is the time where the rest begins."},
    [MECHP_ROUTE_SCENE] = {"view",
                           "Bodies with their shapes, places and colours, at the present time."},
    [MECHP_ROUTE_SNAPSHOTS] = {"snapshots", "What is kept: ids, times and sizes."},
    [MECHP_ROUTE_TAKE_SNAPSHOT] =
        {"snapshots", "The state is kept in memory, and on disk where the instance is durable."},
    [MECHP_ROUTE_DELETE_SNAPSHOT] = {"snapshots", "Its memory is free again."},
    [MECHP_ROUTE_SNAPSHOT] = {"snapshots", "Model and state as one piece: the body of a request "
                                           "that creates an instance, here or on another server. "
                                           "422 when fields have been changed since it was "
                                           "taken: its model is gone."},
    [MECHP_ROUTE_RESTORE] = {"snapshots",
                             "The state of then, with its inputs and parameters; fields that were "
                             "changed since stay so. The revision goes on growing. `reproducible` "
                             "is false when fields have been changed since, or when the snapshot "
                             "comes from another BLAS kernel."},
    [MECHP_ROUTE_GET_STATE] =
        {"values",
         "Coordinates, velocities, accelerations, multipliers, impulses, first-order states and "
         "data. As rows, time comes first, then the vectors in the order of the JSON."},
    [MECHP_ROUTE_SET_STATE] =
        {"values",
         "Vectors that are given are set, whole; accelerations follow with the next step. A row of "
         "numbers as the state is given in NPY or float64 is taken too: of it time, q, v, x and z "
         "are set."},
    [MECHP_ROUTE_STATICS] =
        {"analysis",
         "The state comes to rest under the loads of the present time, unless `commit` is false."},
    [MECHP_ROUTE_STEP] = {"stepping",
                          "One communication step: by its size, to a time, or by a number of "
                          "internal steps. Inputs are set before it, forces act during it. With "
                          "`commit: false` it is a trial that leaves the state as it is until it "
                          "is committed. A step that fails is undone: 422 with the report."},
    [MECHP_ROUTE_SYSTEM] = {"system", "Sizes, factors and the list of parts. `format=archive` "
                                      "gives all parts as one zip of Matrix Market files."},
    [MECHP_ROUTE_SYSTEM_BLOCKS] =
        {"system",
         "Variables in the order of w, constraints in the order of l, and stiffness blocks."},
    [MECHP_ROUTE_SYSTEM_FEASIBILITY] =
        {"system", "How far given unknowns violate the constraints, complementarity and balance."},
    [MECHP_ROUTE_SYSTEM_PRODUCT] =
        {"system", "{H w - CqT l; Cq w + E l} of a vector {w; l}, without forming the matrix."},
    [MECHP_ROUTE_SYSTEM_PROJECT] =
        {"system", "Each multiplier goes to the nearest point of its set: half-line, box or cone."},
    [MECHP_ROUTE_SYSTEM_SCHUR_PRODUCT] =
        {"system", "(Cq H^-1 CqT + E) l, through a factored H or by the masses alone."},
    [MECHP_ROUTE_SYSTEM_PART] = {"system",
                                 "One of H, M, K, C, Cq, E, R, f, b, d, diagonal and Z: as JSON, "
                                 "or in the text forms that numerical tools read."},
    [MECHP_ROUTE_VARIABLES] =
        {"values",
         "Name, causality, variability, unit, shape, start value and reference number of each."},
    [MECHP_ROUTE_LOG_LEVEL] =
        {"service", "Which lines the log has from now on: error, warning, info or debug."},
    [MECHP_ROUTE_CHECK] = {"models", "The model is read and judged as for an instance, and every "
                                     "fault is told with its pointer. Nothing is created."},
    [MECHP_ROUTE_FORGET_OPERATION] =
        {"stepping", "While it runs it is cancelled: a step is undone at its next slice, what has "
                     "not begun is not. Who may ask for an operation may end it: a token its own, "
                     "`admin` all; the scope `read` is enough for one that changes nothing."},
    [MECHP_ROUTE_OPERATION] =
        {"stepping",
         "Where a request with `Prefer: respond-async` has got to. Once it is over, its "
         "answer stands in `answer`, or is the whole reply where it is not JSON; it is "
         "kept for ten minutes."},
    [MECHP_ROUTE_SOLVE] = {"models", "A mixed, complementarity or friction problem by its "
                                     "matrices, with any of the solvers. Nothing is kept."},
    [MECHP_ROUTE_SWEEPS] = {"sweeps", "Those that run and those whose results are kept."},
    [MECHP_ROUTE_SWEEP] =
        {"sweeps", "Each point is an instance of its own that nobody else sees: the model with the "
                   "point's values in place of the document's, stepped to the end on the workers. "
                   "A point that fails has a row of nulls and an entry in `errors`. Rows are kept "
                   "until the sweep is deleted; where the server has a state directory, also after "
                   "a restart."},
    [MECHP_ROUTE_DELETE_SWEEP] =
        {"sweeps", "Points in progress stop at their next slice; rows and memory are free again."},
    [MECHP_ROUTE_GET_SWEEP] = {"sweeps", "How many points are done, and why some have failed."},
    [MECHP_ROUTE_SWEEP_RESULTS] =
        {"sweeps", "Rows in the order of the points: number of the point, parameters, time, "
                   "outputs. While the sweep runs, of the points that are over."},
    [MECHP_ROUTE_TYPES] = {"models", "Items, structures, integrators and solvers with their "
                                     "fields: type, unit, range, default, and what they mean."},
    [MECHP_ROUTE_TYPE] = {"models", "The same of one type."},
};

const struct mechp_route_text *mechp_route_text(int route)
{
    static const struct mechp_route_text none = {"service", ""};
    return route >= 0 && route < MECHP_ROUTES && texts[route].tag != NULL ? &texts[route] : &none;
}

/* Where a name means several things, the narrower one stands first. */
static const struct mechp_parameter parameters[] = {
    {"id", NULL, "Id of the instance, chosen by the server or the client.", "\"rig\""},
    {"name", "/examples/", "Name of a ready model.", "\"mass1d\""},
    {"name", NULL, "Name of the item in the model.", "\"body\""},
    {"field", NULL, "A field of the item, as GET /v1/types lists them.", "\"physicsMass\""},
    {"variable", NULL, "An output variable of the item, as GET /v1/types lists them.",
     "\"Position\""},
    {"rid", NULL, "Id of the run; the last one of an instance is kept.", "\"r-1\""},
    {"sid", NULL, "Id of the snapshot.", "\"s-1\""},
    {"oid", NULL, "Id of the operation.", "\"o-1\""},
    {"wid", NULL, "Id of the sweep.", "\"w-1\""},
    {"what", NULL,
     "A matrix or vector of the descriptor: H, M, K, C, Cq, E, R, f, b, d, diagonal or Z.",
     "\"H\""},
    {"type", NULL, "Name of an item type, structure, integrator or solver.", "\"Mass1D\""},
    {"limit", "/results", "How many rows at most.", "1000"},
    {"outputs", NULL, "Names of outputs, with commas between.", "\"x\""},
    {"limit", NULL, "How many instances at most, 1 to 1000; 100 without it.", "10"},
    {"label", NULL, "name=value,name: only instances with all of these.", "\"variant=stiff\""},
    {"after", NULL, "`next` of the page before.", "\"0\""},
    {"of", "/lease", "Whose leases are broken: all of this role.", "\"owner\""},
    {"rate", NULL, "Events a second at most, 0.1 to 100.", "10"},
    {"count", "/modes", "How many modes at most.", "3"},
    {"complex", NULL, "true: with damping and gyroscopic terms, complex shapes.", "true"},
    {"category", NULL, "Kind of the item; objects without it.", "\"objects\""},
    {"localPosition", NULL, "A point of the body in its own frame, x,y,z in m.", "\"0,0,0\""},
    {"configuration", NULL, "Which state; current without it.", "\"reference\""},
    {"format", "/system", "Form of the answer, in place of Accept.", "\"json\""},
    {"format", NULL, "Form of the answer, in place of Accept.", "\"csv\""},
    {"from", NULL, "First time of interest, s.", "0"},
    {"to", NULL, "Last time of interest, s.", "1"},
    {"level", NULL, "What w is; velocity for nonsmooth integrators without it, else acceleration.",
     "\"velocity\""},
    {"step", NULL, "h of the velocity level, s; the model's without it.", "0.001"},
    {"contacts", NULL, "Which interactions are rows; active without it.", "\"all\""},
    {"massFactor", NULL, "Factor of M in H.", "1"},
    {"stiffnessFactor", NULL, "Factor of K in H.", "0.25"},
    {"dampingFactor", NULL, "Factor of C in H.", "0.5"},
    {"frozen", NULL, "Items whose velocities drop out, with commas between.", "\"body\""},
    {"bilateral", NULL, "only: the rows of joints alone.", "\"all\""},
};

const struct mechp_parameter *mechp_parameter(const char *name, size_t length, const char *path)
{
    for (size_t k = 0; k < sizeof parameters / sizeof *parameters; k++) {
        const struct mechp_parameter *const p = &parameters[k];
        if (strlen(p->name) == length && memcmp(p->name, name, length) == 0 &&
            (p->within == NULL || strstr(path, p->within) != NULL)) {
            return p;
        }
    }
    return NULL;
}
