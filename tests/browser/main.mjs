/** The page in a real browser: all tests, or those that are named. */
import { run } from "./harness.mjs";
import { tests as model } from "./model.mjs";
import { tests as page } from "./page.mjs";
import { tests as plot } from "./plot.mjs";
import { tests as service } from "./service.mjs";
import { tests as sweeps } from "./sweeps.mjs";
import { tests as waiting } from "./waiting.mjs";

await run({ ...page, ...model, ...plot, ...service, ...sweeps, ...waiting });
