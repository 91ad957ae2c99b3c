/**
 * The page in a real browser: all tests, or those that are named. All tests run in two lanes, each
 * with a browser and a daemon of its own; what fails is run again alone, up to twice, and named in a
 * line "UNSTEADY n: names" if it passes then.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { run } from "./harness.mjs";
import { tests as model } from "./model.mjs";
import { tests as page } from "./page.mjs";
import { tests as plot } from "./plot.mjs";
import { tests as service } from "./service.mjs";
import { tests as sweeps } from "./sweeps.mjs";
import { tests as waiting } from "./waiting.mjs";

const tests = { ...page, ...model, ...plot, ...service, ...sweeps, ...waiting };
const lanes = 2;
const unsteadyMost = 3;

/** This program for some tests, in a process of its own: what passed, and the names that failed. */
function apart(names) {
    return new Promise((resolve) => {
        const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...names], {
            stdio: ["ignore", "pipe", "inherit"],
        });
        let text = "";
        child.stdout.on("data", (piece) => (text += piece));
        child.on("close", () => {
            const count = /^(\d+) passed, (\d+) failed\s*$/m.exec(text);
            process.stdout.write(text.replace(count?.[0] ?? "", ""));
            const failed = [...text.matchAll(/^FAILED (\w+)$/gm)].map((found) => found[1]);
            // what names no test of these, such as a daemon that did not end well, is all of theirs
            const known = failed.filter((name) => names.includes(name));
            const lost = !count || Number(count[2]) > known.length;
            resolve({ passed: Number(count?.[1] ?? 0), failed: lost ? names : known });
        });
    });
}

async function runAll() {
    const names = Object.keys(tests);
    const parts = Array.from({ length: lanes }, (_, k) =>
        apart(names.filter((_, place) => place % lanes === k)),
    );
    const done = await Promise.all(parts);
    const first = done.flatMap((part) => part.failed);
    let failed = first;
    for (let k = 0; k < 2 && failed.length > 0; k++) {
        console.log(`again: ${failed.join(" ")}`);
        ({ failed } = await apart(failed));
    }
    const unsteady = first.filter((name) => !failed.includes(name));
    for (const name of failed) {
        console.log(`FAILED ${name}: alone: tests/run browser:${name}`);
    }
    if (unsteady.length > 0) {
        console.log(`UNSTEADY ${unsteady.length}: ${unsteady.join(" ")}`);
    }
    let bad = failed.length;
    if (unsteady.length > unsteadyMost) {
        console.log(`FAILED more than ${unsteadyMost} tests passed only when they were run again`);
        bad++;
    }
    console.log(`${names.length - failed.length} passed, ${bad} failed`);
    process.exitCode = bad === 0 ? 0 : 1;
}

await (process.argv.length > 2 ? run(tests) : runAll());
