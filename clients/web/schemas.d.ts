/* What the server answers and takes, by the names of its interface (openapi.json).
 * Printed from there by tests/tools/printed.py --write. */

/** The client's token. */
export interface AboutWho {
  /** null: the server has no tokens */
  name: string | null;
  /** what it may do */
  scope: "none" | "read" | "step" | "fmu" | "admin";
}

/** A spring (stiffness, damping, rest) or a transmission line (delay, impedance). */
export interface BondLaw {
  /** N/m */
  stiffness?: number;
  /** N s/m */
  damping?: number;
  /** gap at which the spring is at rest, m */
  rest?: number;
  /** delay of the line, s */
  delay?: number;
  /** impedance of the line, N s/m */
  impedance?: number;
}

/** One point at which the shapes of two bodies touch. */
export interface Contact {
  /** the two objects */
  bodies: Name[];
  /** their shapes: names, or indices in geometry */
  shapes: string | number[];
  /** m, halfway between the surfaces */
  point: number[];
  /** unit vector from the first body to the second */
  normal: number[];
  /** m, at the time of contact detection in the step; below 0: overlap */
  gap: number;
  /** N, mean over the step */
  normalForce: number;
  /** N, on the second body, mean over the step */
  force: number[];
  /** N s, on the second body, over the step */
  impulse: number[];
  /** N m s, angular impulse on the second body against rolling and spinning */
  couple: number[];
}

/** Window sizes controlled by the estimated error of the inputs. */
export interface CouplingAdaptive {
  /** relative tolerance of the inputs (default 1e-4) */
  relativeTolerance?: number;
  /** absolute tolerance of the inputs (default 1e-9) */
  absoluteTolerance?: number;
  /** smallest window, s (default 1e-9) */
  minimum?: number;
  /** largest window, s */
  maximum?: number;
}

/** A force that acts on two participants in opposite directions, for the schemes Energy and
 * TransmissionLine. */
export interface CouplingBond {
  /** name in reports */
  name?: Name;
  /** the two inputs that receive the force, one of each participant */
  effort: string[];
  /** the two outputs with the displacements or velocities of the same points */
  flow: string[];
  /** kind of the flows; required if neither their names nor their units show it, as for external
   * programs */
  kind?: "displacement" | "velocity";
  /** law of the force */
  law: "rigid" | BondLaw;
  /** gap at the start, m, if the flows are velocities */
  gap?: number;
}

/** An output that drives an input: input += factor * output + offset. */
export interface CouplingConnection {
  /** participant.output, or participant.output[component] */
  from: string;
  /** participant.input, or participant.input[component] */
  to: string;
  /** factor (default 1); required if the units differ (for FMUs: if the base units differ) */
  factor?: number;
  /** default 0 */
  offset?: number;
}

/** How the participants exchange values in a window. */
export interface CouplingScheme {
  /** name of the scheme */
  type:
    | "Aitken"
    | "Energy"
    | "GaussSeidel"
    | "GaussSeidelIterated"
    | "IQN-ILS"
    | "InterfaceNewton"
    | "Jacobi"
    | "JacobiIterated"
    | "TransmissionLine";
  /** tolerance of each value, relative to its size (default 1e-9) */
  relativeTolerance?: number;
  /** absolute tolerance of each value (default 1e-12) */
  absoluteTolerance?: number;
  /** largest number of iterations in a window (default 50) */
  maxIterations?: number;
  /** relaxation factor: constant, or that of the first iteration (default 1) */
  relaxation?: number;
  /** IQN-ILS: number of earlier windows whose differences are reused (default 0) */
  reuse?: number;
  /** IQN-ILS: a difference is dropped if the part of it that is independent of the others is
   * smaller than this fraction (default 0) */
  filter?: number;
  /** order in which the participants step (default as listed) */
  order?: Name[];
}

/** Inputs over a window as splines through the driving outputs at their internal steps. */
export interface CouplingWaveform {
  /** degree of the splines (default 1) */
  degree?: number;
  /** must be true: inputs are given at the internal steps */
  substeps?: boolean;
}

/** When the state is stored on disk. */
export interface Durability {
  /** none: never; every-step: every change, before it is acknowledged; checkpoint: after every
   * `steps` committed steps, every `seconds` seconds, or both */
  mode: "none" | "checkpoint" | "every-step";
  /** committed steps from one checkpoint to the next */
  steps?: number;
  /** wall-clock time from one checkpoint to the next, s (1 if neither is given) */
  seconds?: number;
}

/** An example model. */
export interface ExampleEntry {
  /** name, as for `example` of a request that creates an instance */
  name: Name;
  /** title */
  title?: string;
  /** description */
  doc?: string;
}

/** An instance. */
export interface Instance {
  /** id */
  id: Name;
  /** name of the model */
  name: string | null;
  /** engine of the instance, if it is not the server's own solver */
  engine?: "fmu";
  /** s */
  time: number;
  /** internal steps since the start */
  step: number;
  /** internal step, s */
  stepSize: number;
  /** a run is in progress */
  running: boolean;
  /** a step or a derivative is in progress or queued; POST …/stop cancels it */
  busy: boolean;
  /** incarnation.revision, as in the ETag: the incarnation differs for every instance, also under
   * the same id; the revision increases with every change */
  revision: string;
  /** when the state is stored on disk */
  durability: "none" | "every-step" | Durability;
  /** as given */
  labels?: Record<string, string>;
  /** idle time after which the instance is deleted, s */
  ttl?: number;
  /** remaining idle time, s */
  ttlLeft?: number;
  /** warnings about the model */
  warnings?: Warning[];
  /** integration scheme */
  integrator?: string;
  /** sizes of its state */
  sizes?: Sizes;
  /** memory that it uses, bytes */
  memory?: number;
  /** names */
  inputs?: string[];
  /** names */
  outputs?: string[];
  /** names */
  parameters?: string[];
  /** the run in progress */
  run?: Run | null;
  /** after a restore: false if fields were changed after the snapshot, or if it was taken with
   * another BLAS kernel */
  reproducible?: boolean;
}

/** A lease on an instance. */
export interface Lease {
  /** number for the header `Lease`; shown to the holder only */
  lease?: number;
  /** role; partner: a program that exchanges binary frames and connected without a role */
  role: "owner" | "co-driver" | "observer" | "partner";
  /** name of the holder, as given or from its token */
  name: string;
  /** inputs that this co-driver may set */
  channels: string[];
  /** idle time after which it expires, s */
  seconds: number | null;
  /** time at which it expires, UTC */
  expires: string | null;
  /** time that remains until then, s */
  left: number | null;
}

/** A lease to take. */
export interface LeaseRequest {
  /** role of the holder */
  role: "owner" | "co-driver" | "observer";
  /** inputs that only this co-driver and the owner may set */
  channels?: string[];
  /** idle time after which it expires, 0.01 to 86400 s (default 60) */
  seconds?: number;
  /** name of the holder, shown to others (default that of the token) */
  name?: Name;
}

/** A name of letters, digits, dots, underscores and hyphens. */
export type Name = string;

/** Values of the outputs. */
export interface Outputs {
  /** s */
  time: number;
  /** by name */
  outputs: Record<string, Value>;
}

/** A run. */
export interface Run {
  /** id */
  id: Name;
  /** state of the run; interrupted: the process of the server ended during the run */
  state: "running" | "finished" | "stopped" | "failed" | "interrupted";
  /** simulated seconds per second; 0: as fast as possible */
  pace: number;
  /** communication step, s */
  period: number;
  /** start time, s */
  start: number;
  /** end time, s */
  until: number | null;
  /** current time, s */
  time: number;
  /** communication steps done */
  periods: number;
  /** periods that began more than one period late */
  overruns: number;
  /** part of the run that is done, 0 to 1; null: the run has no end */
  fraction: number | null;
  /** wall-clock time since its start, s */
  elapsed: number;
  /** estimated wall-clock time to its end, s */
  remaining: number | null;
  /** what is recorded */
  record?: RunRecorded;
  /** rows recorded so far, while they are retained */
  recorded?: number;
  /** reason for the failure or interruption; of a stopped run: why the process of a hosted FMU was
   * ended, if its state could not be restored */
  reason?: string;
  /** of a coupling: windows larger than `largestStable` of the last stability report, if any */
  warnings?: Warning[];
}

/** What a run records: at the start, at regular intervals, and at the end. */
export interface RunRecord {
  /** periods from one row to the next (default 1) */
  every?: number;
  /** in place of `every`: simulated seconds from one row to the next, a multiple of the period */
  seconds?: number;
  /** names of outputs (default all) */
  outputs?: string[];
  /** record the inputs too, as columns `input:NAME`; null where the value of the model is used */
  inputs?: boolean;
  /** record a hash of the state too, in the two columns of `state:hash`: its upper and its lower 32
   * bits */
  hash?: boolean;
}

/** What is recorded of a run. */
export interface RunRecorded {
  /** periods from one row to the next */
  every: number;
  /** true: the inputs too */
  inputs?: boolean;
  /** true: a hash of the state too */
  hash?: boolean;
  /** names of outputs */
  outputs: string[];
}

/** A run, in real time or as fast as possible. */
export interface RunRequest {
  /** simulated seconds per second (default 0: as fast as possible) */
  pace?: number;
  /** communication step, s */
  period?: number;
  /** end time, s (default none: until it is stopped) */
  until?: number;
  /** number of periods, instead of until */
  count?: number;
  /** record outputs for …/results; the run must have an end */
  record?: RunRecord;
}

/** Bodies with their shapes and frames. */
export interface Scene {
  /** s */
  time: number;
  /** contacts of the last step, if the model has contacts */
  contacts?: number;
  /** the bodies that are drawn */
  bodies: SceneBody[];
  /** items without a position in space */
  systems: SceneSystem[];
}

/** A body with its frame. */
export interface SceneBody {
  /** name of the object */
  name: Name;
  /** its type */
  type: string;
  /** m */
  position?: number[];
  /** matrix by rows, from the body to the world */
  rotation?: number[];
  /** position in the reference configuration, m */
  reference?: number[];
  /** points along the axis of a body that is a line, m */
  line?: number[][];
  /** it has no node */
  fixed: boolean;
  /** red, green, blue, opacity, 0 to 1 */
  color: number[];
  /** in the frame of the body */
  graphics: SceneGraphic[];
}

/** A shape in the frame of its body. */
export interface SceneGraphic {
  /** type of the graphic; Plane, Mesh */
  shape: string;
  /** m */
  center: number[];
  /** lengths of the edges of a box, or the axis of a cylinder, m */
  size?: number[];
  /** m */
  radius?: number;
  /** as for the body */
  color: number[];
  /** normal of a plane */
  normal?: number[];
  /** points of a mesh, m */
  points?: number[][];
  /** triangles of a mesh: indices of three points each */
  triangles?: number[][];
}

/** An item without a position in space. */
export interface SceneSystem {
  /** name of the object */
  name: Name;
  /** its type */
  type: string;
  /** total coordinates: reference plus displacements */
  coordinates: number[];
}

/** Sizes of the state. */
export interface Sizes {
  /** coordinates */
  q: number;
  /** velocities */
  v: number;
  /** first-order states */
  x: number;
  /** multipliers */
  lambda: number;
  /** data of nodes and of linear systems, and angles that count turns */
  z: number;
  /** impulses */
  impulse: number;
}

/** A saved state of an instance. */
export interface Snapshot {
  /** id */
  id: Name;
  /** the snapshot that was last taken or restored before it, or if that has been deleted, its
   * parent; null: none since the start or a reset */
  parent: Name | null;
  /** s */
  time: number;
  /** size of the state, bytes */
  bytes: number;
}

/** A sweep and its progress. */
export interface Sweep {
  /** id */
  id: Name;
  /** name of the model */
  name: string;
  /** state; interrupted: the process of the server ended during the sweep */
  state: "running" | "finished" | "stopped" | "interrupted";
  /** number of points, the sets of parameter values */
  points: number;
  /** number of finished points, including failed ones */
  done: number;
  /** number of failed points; each has a row of nulls */
  failed: number;
  /** its rows are stored on disk */
  stored: boolean;
  /** names, in the order of the columns */
  parameters: string[];
  /** names, in the order of the columns */
  outputs: string[];
  /** errors of the first 100 failed points */
  errors?: SweepError[];
}

/** A coupling as for POST /v1/couplings, with models in place of instances. */
export interface SweepCoupling {
  /** name for display */
  name?: string;
  /** what is coupled */
  participants: SweepParticipant[];
  /** which outputs drive which inputs */
  connections?: CouplingConnection[];
  /** forces between two participants */
  bonds?: CouplingBond[];
  /** how the participants exchange values */
  scheme: CouplingScheme;
  /** degree of the polynomials of the inputs over a window (default 0: constant) */
  hold?: number;
  /** inputs over a window as splines */
  waveform?: CouplingWaveform;
  /** size of a window, s */
  stepSize: number;
  /** outputs of replies, frames and rows, as participant.output (default all) */
  outputs?: string[];
  /** window sizes controlled by the estimated error, at most stepSize */
  adaptive?: CouplingAdaptive;
}

/** Error of a point of a sweep. */
export interface SweepError {
  /** its number, from 0 */
  point: number;
  /** code of the error */
  code: string;
  /** description of the error */
  message: string;
}

/** A participant of a coupling; each point creates its own from this model. */
export interface SweepParticipant {
  /** its name in the coupling */
  name: Name;
  /** a model document */
  model?: Record<string, any>;
  /** or the name of one of /v1/examples */
  example?: Name;
}

/** Recording of rows for each point, including its start. */
export interface SweepRecord {
  /** internal steps, or windows of a coupling, from one row to the next (default 1); with `until`
   * and adaptive windows, the rows of windows of size adaptive.minimum must fit into the limit of
   * rows */
  every?: number;
}

/** A model, an FMU or a coupling, the values of its parameters, and the end of the simulation. */
export interface SweepRequest {
  /** a model document */
  model?: Record<string, any>;
  /** or the name of one of /v1/examples */
  example?: Name;
  /** or the id of an uploaded FMU */
  fmu?: Name;
  /** with fmu: start values of inputs and parameters, by name */
  start?: Record<string, any>;
  /** or a coupling of several models */
  coupling?: SweepCoupling;
  /** {"grid": {name: numbers or {"from", "to", "count"}}}: all combinations, where the last name
   * changes fastest; or {"list": [{name: number}]}. A name is that of a parameter; for an FMU, of a
   * parameter or an input; for a coupling, "participant/parameter", or a JSON pointer to a number
   * in it, such as "/stepSize" or "/connections/0/factor" */
  parameters: Record<string, any>;
  /** end time, s */
  until?: number;
  /** or the number of internal steps; of a coupling, the number of windows */
  count?: number;
  /** outputs to record (default all) */
  outputs?: string[];
  /** record rows during the simulation, not only at its end */
  record?: SweepRecord;
}

/** A number, or a list with one number for each component. */
export type Value = number | number[];

/** A variable in FMI's terms. */
export interface Variable {
  /** name */
  name: string;
  /** causality */
  causality: "input" | "output" | "parameter" | "independent";
  /** variability */
  variability: "continuous" | "tunable" | "fixed";
  /** SI */
  unit: string;
  /** dimensions; empty for a scalar */
  shape: number[];
  /** value reference */
  reference: number;
  /** start value, of inputs and parameters */
  start?: Value;
}

/** A warning about a valid model. */
export interface Warning {
  /** JSON pointer, RFC 6901 */
  pointer: string;
  /** the warning */
  message: string;
}
