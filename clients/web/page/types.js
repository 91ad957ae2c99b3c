/**
 * Types of the server's replies; for the type checker and the reader, without code.
 *
 * @typedef {number | number[]} Value
 * @typedef {Record<string, Value>} Values
 *
 * @typedef {object} Run
 * @property {string} id
 * @property {"running" | "finished" | "stopped" | "failed" | "interrupted"} state
 * @property {number} pace simulated seconds per second; 0: free of the clock
 * @property {number} period s
 * @property {number} start s
 * @property {number | null} until s; null: until it is stopped
 * @property {number} time s
 * @property {number} periods done
 * @property {number} overruns periods that were late
 * @property {number | null} fraction 0 to 1
 * @property {number} elapsed s of the clock
 * @property {number | null} remaining s of the clock
 * @property {{every: number, outputs: string[]}} [record]
 * @property {number} [recorded] rows, as long as they are stored
 * @property {string} [reason] why it failed or was interrupted
 *
 * @typedef {object} Who
 * @property {string | null} name of the token
 * @property {string} scope what it may do
 *
 * @typedef {object} RunRequest
 * @property {number} [pace]
 * @property {number} [period]
 * @property {number} [until]
 * @property {number} [count]
 * @property {{every: number, outputs?: string[]}} [record]
 *
 * @typedef {object} Snapshot
 * @property {string} id
 * @property {number} time s
 * @property {number} bytes
 *
 * @typedef {number[] | {from: number, to: number, count: number}} Axis of a grid
 *
 * @typedef {object} SweepRequest
 * @property {{grid: Record<string, Axis>}} parameters the last name is the fastest
 * @property {number} [until] s
 * @property {number} [count] internal steps
 * @property {string[]} [outputs]
 * @property {{every: number}} [record]
 *
 * @typedef {object} Sweep
 * @property {string} id
 * @property {string} name of the model, or ""
 * @property {"running" | "finished" | "stopped" | "interrupted"} state
 * @property {number} points
 * @property {number} done of them, failed ones included
 * @property {number} failed of them
 * @property {boolean} stored its rows are there after a restart
 * @property {string[]} parameters names
 * @property {string[]} outputs names
 * @property {{point: number, code: string, message: string}[]} [errors] not in lists
 *
 * @typedef {object} Lease
 * @property {number} [lease] its number; only in the holder's replies
 * @property {"owner" | "co-driver" | "observer" | "partner"} role
 * @property {string} name of the holder, or ""
 * @property {string[]} channels inputs
 * @property {number} seconds
 * @property {number | null} left s
 *
 * @typedef {"none" | "every-step" | {mode: string, steps?: number, seconds?: number}} Durability
 *
 * @typedef {object} Instance
 * @property {string} id
 * @property {string} name
 * @property {number} time
 * @property {number} step
 * @property {number} stepSize
 * @property {boolean} running
 * @property {boolean} busy
 * @property {string} revision
 * @property {Durability} durability
 * @property {Record<string, string>} [labels]
 * @property {number} [ttl] s without use after which it is deleted
 * @property {number} [ttlLeft] s
 * @property {{pointer: string, message: string}[]} [warnings] of the model
 * @property {string[]} [outputs] names
 * @property {string} [integrator]
 * @property {Run | null} [run]
 *
 * @typedef {object} Variable
 * @property {string} name
 * @property {"input" | "output" | "parameter" | "independent"} causality
 * @property {string} unit
 * @property {number[]} shape
 * @property {Value} [start]
 *
 * @typedef {object} Sample
 * @property {number} time
 * @property {number} step
 * @property {Values} outputs
 * @property {boolean} [running] in live events
 * @property {string} [life] in live events: which instance with this id it is
 *
 * @typedef {object} Example
 * @property {string} name
 * @property {string} [title]
 *
 * @typedef {object} Graphic
 * @property {string} shape "Box", "Sphere", "Cylinder", "Line", "Plane", "Mesh"
 * @property {number[]} [center] in the body's frame, m; one end of a cylinder or line
 * @property {number[]} size along the body's axes, m; from end to end of a cylinder or line; none of
 *   planes and meshes
 * @property {number} radius m
 * @property {number[]} [normal] of a plane, in the body's frame
 * @property {number[][]} [points] of a mesh, in the body's frame, m
 * @property {number[][]} [triangles] of a mesh: three points each, counterclockwise from outside
 * @property {number[]} [color]
 *
 * @typedef {object} Body
 * @property {string} name
 * @property {string} type
 * @property {number[]} position
 * @property {number[]} [rotation] 9 numbers by rows
 * @property {number[]} [reference] position
 * @property {boolean} [fixed] it never moves
 * @property {number[]} [color] red, green, blue, alpha from 0 to 1
 * @property {Graphic[]} graphics
 * @property {number[][]} [line] points along it, of a body that is a line
 *
 * @typedef {object} Contact
 * @property {string[]} bodies the two
 * @property {number[]} point m
 * @property {number[]} normal
 * @property {number[]} force N, on the second body
 *
 * @typedef {object} System an object without a place in space
 * @property {string} name
 * @property {string} type
 * @property {number[]} coordinates
 *
 * @typedef {object} Scene
 * @property {number} time
 * @property {Body[]} bodies
 * @property {System[]} [systems]
 * @property {number} [contacts] of the last step, where bodies can touch
 *
 * @typedef {object} Channel one curve: a component of an output
 * @property {string} key name of the output
 * @property {number} component index, or -1 for a scalar
 * @property {string} label
 * @property {string} unit
 * @property {number} color index into the palette
 * @property {boolean} on
 */
export {};
