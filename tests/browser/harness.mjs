/** A browser, pages whose complaints are kept, and what every test does with them. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Daemon, until } from "./daemon.mjs";

export const require = createRequire(new URL("../../clients/web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const pictures = process.env.MECHD_TESTS_PICTURES;
const flags = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];
export const EXAMPLE = "driven-oscillator";

export const daemon = new Daemon();
/** Set before the tests begin. */
export let browser;

/** The header says how the connection to the server is. */
export const linked = (page, text) =>
    until(async () => (await page.textContent("#link")) === text, `the page says ${text}`);

/** A fresh page whose complaints and requests are kept. */
export async function open(options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 860 },
        ...options,
    });
    const page = await context.newPage();
    page.complaints = [];
    page.addresses = [];
    page.on(
        "console",
        (m) => ["error", "warning"].includes(m.type()) && page.complaints.push(m.text()),
    );
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.on("request", (request) => page.addresses.push(request.url()));
    page.setDefaultTimeout(15000 * Number(process.env.MECHD_TESTS_DEADLINE || 1));
    await options.before?.(page);
    await page.goto(`${daemon.base}/${options.hash ?? ""}`);
    await linked(page, "live");
    return page;
}

export async function picture(page, name) {
    if (pictures) {
        await page.screenshot({ path: join(pictures, `${name}.png`) });
    }
}

/** A daemon of its own that asks for tokens, and one of that scope. */
export async function guarded(scope) {
    const own = new Daemon();
    const made = execFileSync(own.program, ["--make-token", "rig", "--scopes", scope]).toString();
    const [, token, line] = /^token +(.*)\nline +(.*)\n/.exec(made);
    const file = join(mkdtempSync(join(tmpdir(), "mechd-tokens-")), "tokens");
    writeFileSync(file, `${line}\n`);
    await own.start("--tokens", file);
    return { own, token, file };
}

/** An instance made by another client, and the page that shows it. */
export async function shown(options = {}) {
    const made = await daemon.call("POST", "/v1/instances", {
        example: options.example ?? EXAMPLE,
    });
    assert.equal(made.status, 201);
    const page = await open({ ...options, hash: `#/${made.body.id}` });
    await page.waitForSelector("canvas.plot");
    return { page, id: made.body.id };
}

export const press = (page, name) => page.getByRole("button", { name, exact: true }).click();
export const time = async (page) => parseFloat(await page.textContent("[data-role=time]"));
export const pixels = (page, canvas = "canvas.plot") =>
    page.evaluate((which) => document.querySelector(which).toDataURL(), canvas);

/** The drawing that is shown, where it has bodies, beads or curves in it: those are coloured. */
export const drawn = (page) =>
    page.evaluate(() => {
        const canvas = document.querySelector("canvas.drawing:not([hidden])");
        if (!canvas?.width || !canvas.clientHeight) {
            return "";
        }
        // read from a copy: the page's own canvas stays as it is
        const copy = new OffscreenCanvas(canvas.width, canvas.height);
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, copy.width, copy.height);
        let coloured = 0;
        for (let k = 0; k < data.length; k += 4) {
            const [r, g, b, a] = data.subarray(k, k + 4);
            coloured += a > 60 && Math.max(r, g, b) - Math.min(r, g, b) > 40 ? 1 : 0;
        }
        return coloured > 60 ? canvas.toDataURL() : "";
    });

/** What a press on a button saves, as bytes. */
export async function saved(page, name) {
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name, exact: true }).click(),
    ]);
    const path = join(mkdtempSync(join(tmpdir(), "mechd-saved-")), "file");
    await download.saveAs(path);
    return { name: download.suggestedFilename(), bytes: readFileSync(path) };
}

/** What can be pressed or filled and has no name. */
export const nameless = (page) =>
    page.evaluate(() =>
        [...document.querySelectorAll("button, input, select, progress")]
            .filter(
                (e) => !e.textContent.trim() && !e.getAttribute("aria-label") && !e.labels?.length,
            )
            .map((e) => e.outerHTML),
    );

/** The page does not scroll sideways. */
export const fits = (page) =>
    page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

/** What the open pages have complained of so far. */
const complaints = () =>
    browser
        .contexts()
        .flatMap((context) => context.pages())
        .flatMap((page) => page.complaints ?? []);

/**
 * All tests, or those that are named to the program; its exit code is 0 if they pass.
 * @param {Record<string, () => Promise<void>>} tests
 */
async function runAll(tests) {
    let passed = 0,
        failed = 0;
    await daemon.start();
    for (const [name, test] of Object.entries(tests)) {
        if (process.argv.length > 2 && !process.argv.slice(2).includes(name)) {
            continue;
        }
        // one that has ended by itself is the fault of one test, not of all that follow
        if (!browser?.isConnected()) {
            browser = await chromium.launch({
                executablePath: process.env.MECHD_TESTS_BROWSER || undefined,
                args: flags,
            });
        }
        try {
            await test();
            passed++;
        } catch (error) {
            failed++;
            console.log(`FAILED ${name}`);
            for (const complaint of complaints()) {
                console.log(`    the page: ${complaint}`);
            }
            console.log(`    ${error.stdout ?? ""}${error.stack ?? error}`);
        }
        // nothing of a test is left for the next one
        for (const context of browser.contexts()) {
            // those of a browser that has ended are closed
            await context.close().catch(() => {});
        }
        for (const own of Daemon.running) {
            // its test has failed; the program would wait for it
            await (own !== daemon && own.stop());
        }
        for (const kind of ["instances", "sweeps"]) {
            for (const { id } of (await daemon.call("GET", `/v1/${kind}`)).body?.items ?? []) {
                await daemon.call("DELETE", `/v1/${kind}/${id}`);
            }
        }
    }
    await browser?.close();
    const code = await daemon.stop();
    if (code !== 0) {
        failed++;
        console.log(`FAILED the daemon ended with ${code}`);
    }
    console.log(`${passed} passed, ${failed} failed`);
    process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

/** As runAll, whatever happens to the browser. */
export const run = (tests) =>
    runAll(tests).catch((error) => {
        console.log(`FAILED browser: ${error.stack ?? error}\n0 passed, 1 failed`);
        process.exit(1);
    });
