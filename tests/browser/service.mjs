/** Runs, labels, snapshots and leases on the page, in a real browser, against the real daemon. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Daemon, until } from "./daemon.mjs";
import {
    EXAMPLE,
    browser,
    daemon,
    fits,
    nameless,
    open,
    picture,
    pixels,
    press,
    saved,
    shown,
    time,
} from "./harness.mjs";

const at = (id, rest = "") => `/v1/instances/${id}${rest}`;
const got = async (path) => (await daemon.call("GET", path)).body;
const RUN = ".runs li";

/** A run is over, of the instance, by the server. */
const over = (id, rid) =>
    until(async () => (await got(at(id, `/runs/${rid}`))).state !== "running", `${rid} is over`);

/** Fill the form of runs: its fields by their names. */
async function start(page, fields) {
    const choices = { Run: "#run-end", Pace: "#run-pace" };
    for (const [name, value] of Object.entries(fields)) {
        if (choices[name]) {
            await page.selectOption(choices[name], value);
        } else {
            await page.getByLabel(name, { exact: true }).fill(value);
        }
    }
    await press(page, "Start run");
}

export const tests = {
    async a_recorded_run_is_started_shown_and_saved() {
        const { page, id } = await shown();
        await start(page, {
            Run: "count",
            "How long": "400",
            Period: "0.01",
            "Periods from row to row": "4",
        });
        await page.waitForSelector(`${RUN}[data-run=r-1][data-state=finished]`);
        const run = await got(at(id, "/runs/r-1"));
        assert.equal(run.periods, 400);
        assert.equal(run.record.every, 4);
        assert.match(await page.textContent(RUN), /100 %.*101 rows/);

        // the chart: rows as they are, drawn
        await page.getByRole("button", { name: "Chart, run r-1" }).click();
        await page.waitForSelector(".results >> text=101 rows");
        const chart = () => pixels(page, ".results canvas");
        const before = await chart();
        await page.locator(".results button.curve").first().click();
        await until(async () => (await chart()) !== before, "a curve is switched off");
        await picture(page, "results");

        // the files are what the server has
        const csv = await saved(page, "CSV, run r-1");
        assert.equal(csv.name, `${id}-r-1.csv`);
        const response = await fetch(`${daemon.base}${at(id, "/runs/r-1/results?format=csv")}`);
        assert.equal(csv.bytes.toString(), await response.text());
        assert.equal(csv.bytes.toString().trim().split("\n").length, 102);
        const npy = await saved(page, "NPY, run r-1");
        assert.equal(npy.bytes.subarray(1, 6).toString(), "NUMPY");

        await page.getByRole("button", { name: "Discard rows, run r-1" }).click();
        await page.waitForSelector(`${RUN} >> text=rows discarded`);
        assert.equal(await page.locator(".results").count(), 0);
        assert.equal((await got(at(id, "/runs/r-1"))).recorded, undefined);
        assert.deepEqual(page.complaints, []);
    },

    async a_run_tells_its_progress_and_is_cancelled() {
        const { page, id } = await shown();
        await start(page, { Run: "until", "How long": "30", Pace: "1" });
        const bar = page.getByRole("progressbar", { name: "Progress of run r-1" });
        const fraction = () => bar.evaluate((element) => element.value);
        await until(async () => (await fraction()) > 0.01, "the run gets on");
        const first = await fraction();
        // the chart follows the run
        await page.getByRole("button", { name: "Chart, run r-1" }).click();
        const rows = async () => parseInt(await page.textContent(".results .note"), 10);
        await until(async () => (await rows()) > 10, "rows come");
        const some = await rows();
        await until(async () => (await rows()) > some, "more rows come");
        assert.ok((await fraction()) > first);
        assert.equal(await page.isDisabled("text=Start run"), true);
        await page.getByRole("button", { name: "Stop, run r-1" }).click();
        await page.waitForSelector(`${RUN}[data-state=stopped]`);
        assert.match(await page.textContent(RUN), /stopped/);
        const run = await got(at(id, "/runs/r-1"));
        assert.equal(run.state, "stopped");
        await until(async () => (await rows()) === run.recorded, "the last rows are there");
        await page.waitForSelector(".head .badge:not(.on)");
        assert.deepEqual(page.complaints, []);
    },

    async chosen_outputs_are_recorded_and_a_run_without_end_records_none() {
        const { page, id } = await shown();
        await page.click(".names summary");
        await page.getByLabel("x2", { exact: true }).uncheck();
        await page.waitForSelector("text=2 of 3 outputs");
        await start(page, { Run: "for", "How long": "0.5", Period: "0.05" });
        await page.waitForSelector(`${RUN}[data-state=finished]`);
        const run = await got(at(id, "/runs/r-1"));
        assert.deepEqual([run.periods, run.record.outputs], [10, ["x1", "v2"]]);
        await page.getByRole("button", { name: "Chart, run r-1" }).click();
        await page.waitForSelector(".results >> text=11 rows");
        assert.equal(await page.locator(".results button.curve").count(), 2);

        await start(page, { Run: "never", Pace: "x", "Factor of real time": "3" });
        await page.waitForSelector(`${RUN}[data-run=r-2][data-state=running]`);
        const endless = await got(at(id, "/runs/r-2"));
        assert.deepEqual([endless.until, endless.pace, endless.record], [null, 3, undefined]);
        assert.equal(await page.locator(`${RUN}[data-run=r-2] progress`).isVisible(), false);
    },

    async a_run_for_some_seconds_ends_after_these() {
        const { page, id } = await shown();
        let time = 0;
        for (const [k, seconds, period, periods] of [
            [1, 0.12, 0.05, 3],
            [2, 0.02, 0.05, 1],
            [3, 0.3, 0.1, 3],
        ]) {
            await start(page, { Run: "for", "How long": `${seconds}`, Period: `${period}` });
            await page.waitForSelector(`${RUN}[data-run=r-${k}][data-state=finished]`);
            const run = await got(at(id, `/runs/r-${k}`));
            time += seconds;
            assert.equal(run.periods, periods);
            assert.ok(Math.abs(run.time - time) < 1e-12, `${run.time} is ${time}`);
        }
    },

    async a_run_that_is_refused_or_late_is_told() {
        const { page, id } = await shown();
        await start(page, { Period: "0,x" });
        await page.waitForSelector("#run-period.wrong");
        await page.waitForSelector("text=the marked fields need a positive number");
        // the server's own reason with its place
        await start(page, { Run: "count", "How long": "1.5", Period: "0.02" });
        await page.waitForSelector(".notice >> text=/count");
        assert.equal((await got(at(id, "/runs"))).items.length, 0);
        // a pace that no machine keeps
        await start(page, { "How long": "40", Pace: "x", "Factor of real time": "10" });
        await page.waitForSelector(`${RUN}[data-state=finished]`);
        const { overruns } = await got(at(id, "/runs/r-1"));
        const text = await page.textContent(RUN);
        assert.equal(/(\d+) overrun/.exec(text)[1], String(overruns));
        assert.equal(await page.locator(`${RUN} .late`).isVisible(), overruns > 0);
    },

    async progress_goes_on_after_a_lost_connection() {
        const { page, id } = await shown();
        let cut = 0;
        await page.route("**/runs/*/events*", (route) =>
            ++cut <= 2 ? route.abort() : route.continue(),
        );
        await start(page, { Run: "until", "How long": "30", Pace: "1" });
        await page.waitForSelector("text=The connection to the run is lost");
        await until(() => cut > 2, "it is asked for again");
        const bar = page.locator(`${RUN} progress`);
        await until(async () => (await bar.evaluate((b) => b.value)) > 0.05, "progress is shown");
        // the list of runs shows progress too, maybe before the connection is there again
        await page.waitForSelector("text=The connection to the run is lost", { state: "hidden" });
        await daemon.call("DELETE", at(id, "/runs/r-1"));
        await page.waitForSelector(`${RUN}[data-state=stopped]`);
    },

    async runs_of_other_clients_and_other_processes_are_listed() {
        const own = new Daemon();
        await own.start();
        const { body } = await own.call("POST", "/v1/instances", { example: EXAMPLE });
        const page = await (await browser.newContext()).newPage();
        await page.goto(`${own.base}/#/${body.id}`);
        await page.waitForSelector("text=No runs yet.");
        await own.call("POST", at(body.id, "/runs"), { count: 20, record: {} });
        await page.waitForSelector(`${RUN}[data-run=r-1][data-state=finished]`);
        assert.equal(await page.isVisible("text=No runs yet."), false);
        assert.equal(await own.stop(), 0);
    },

    async labels_are_shown_edited_and_chosen_by() {
        const { page, id } = await shown();
        const other = await daemon.call("POST", "/v1/instances", {
            example: "mass1d",
            labels: { rig: "b" },
        });
        await press(page, "Edit labels and time to live");
        await page.getByLabel("Label", { exact: true }).fill("rig");
        await page.getByLabel("Value", { exact: true }).fill("a");
        await press(page, "Add a label");
        await page.getByLabel("Label", { exact: true }).nth(1).fill("night");
        await page.getByLabel("Delete when unused for").fill("900");
        await press(page, "Save");
        await page.waitForSelector(".traits >> text=night");
        const info = await got(at(id));
        assert.deepEqual([info.labels, info.ttl], [{ rig: "a", night: "" }, 900]);
        await page.waitForSelector("text=/deleted if unused for 1[45]:\\d\\d min/");
        await picture(page, "labels");

        // by a label of its own, by another's, by a part of a name
        const listed = () => page.locator(".list a .quiet:nth-of-type(3)").allTextContents();
        const shows = (ids) =>
            until(async () => String(await listed()) === String(ids), `only ${ids} listed`);
        await shows([id, other.body.id]);
        await press(page, "rig=a");
        await shows([id]);
        assert.equal(await page.inputValue("#filter"), "rig=a");
        await page.fill("#filter", "rig=b");
        await shows([other.body.id]);
        // what is shown stays
        assert.ok(page.url().endsWith(id));
        await page.fill("#filter", "NIGHT");
        await shows([id]);
        await page.fill("#filter", "nobody");
        await page.waitForSelector("text=No instance matches.");
        await page.fill("#filter", "");
        await shows([id, other.body.id]);

        // away again
        await press(page, "Edit labels and time to live");
        await press(page, "Remove the label night");
        await page.getByLabel("Delete when unused for").fill("");
        await press(page, "Save");
        await until(async () => (await got(at(id))).ttl === undefined, "it stays");
        assert.deepEqual((await got(at(id))).labels, { rig: "a" });
        await page.waitForSelector("text=deleted if unused", { state: "hidden" });
        assert.deepEqual(page.complaints, []);
    },

    async labels_that_are_refused_are_told_with_their_place() {
        const { page, id } = await shown();
        await press(page, "Edit labels and time to live");
        await page.getByLabel("Label", { exact: true }).fill("a b");
        await press(page, "Save");
        await page.waitForSelector(".notice code");
        assert.match(await page.textContent(".notice"), /\/labels/);
        assert.equal((await got(at(id))).labels, undefined);
        await page.getByLabel("Label", { exact: true }).fill("a");
        await page.getByLabel("Delete when unused for").fill("soon");
        await press(page, "Save");
        await page.waitForSelector("#ttl.wrong");
        await press(page, "Cancel");
        assert.equal(await page.locator(".editor").count(), 0);
    },

    async a_number_beyond_all_is_refused_by_its_place() {
        const { page, id } = await shown();
        await daemon.call("PATCH", at(id), { ttl: 900 });
        await press(page, "Edit labels and time to live");
        await page.getByLabel("Delete when unused for").fill("1e999");
        await press(page, "Save");
        await page.waitForSelector(".notice code");
        assert.match(await page.textContent(".notice"), /\/ttl.*not a finite number/);
        assert.equal((await got(at(id))).ttl, 900);
        await press(page, "Cancel");
    },

    async looking_at_an_instance_does_not_keep_it_alive() {
        const made = await daemon.call("POST", "/v1/instances", { example: EXAMPLE, ttl: 900 });
        const page = await open({ hash: `#/${made.body.id}` });
        await page.waitForSelector("text=/deleted if unused for \\d+:\\d\\d min/");
        await daemon.call("PATCH", at(made.body.id), { ttl: 2 });
        await page.waitForSelector(`.list a[href="#/${made.body.id}"]`, {
            state: "detached",
        });
        await until(() => page.evaluate(() => location.hash === ""), "the page leaves it");
    },

    async an_instance_that_is_made_again_under_its_id_is_shown_anew() {
        const path = at("again");
        await daemon.call("PUT", path, { example: EXAMPLE });
        const page = await open({ hash: "#/again" });
        await page.waitForSelector("[data-output=x1]");
        // the list, from which the page sees that nothing has the id
        let held = null;
        await page.route(/\/v1\/instances\?/, (route) =>
            held ? held.push(route) : route.continue(),
        );
        for (const [example, output, other] of [
            ["mass1d", "x", "x1"],
            [EXAMPLE, "x1", "x"],
        ]) {
            held = [];
            await until(() => held.length > 0, "it is asked for");
            await daemon.call("DELETE", path);
            await daemon.call("PUT", path, { example });
            const lists = held;
            held = null;
            await Promise.all(lists.map((route) => route.continue()));
            await page.waitForSelector(`[data-output=${output}]`);
            assert.equal(await page.locator(`[data-output=${other}]`).count(), 0);
            const { name } = await got(path);
            assert.equal(await page.textContent("main h1"), name);
            await daemon.call("POST", `${path}/step`, { count: 10 });
            const { time: now } = await got(path);
            const near = async () => Math.abs((await time(page)) - now) < 1e-3;
            await until(near, "its time is shown");
        }
    },

    async snapshots_are_taken_restored_saved_and_deleted() {
        const { page, id } = await shown();
        await page.fill("#size", "0.25");
        await press(page, "Step");
        await until(async () => (await time(page)) === 0.25, "the step");
        const x1 = await page.textContent("[data-output=x1]");
        await press(page, "Take a snapshot");
        await page.waitForSelector(".snapshots >> text=s-1");
        assert.match(await page.textContent(".snapshots li"), /0\.250 s.*B/);
        await press(page, "Step");
        await until(async () => (await time(page)) === 0.5, "another step");
        await press(page, "Restore s-1");
        await until(async () => (await time(page)) === 0.25, "it is back");
        assert.equal(await page.textContent("[data-output=x1]"), x1);
        assert.equal((await got(at(id))).time, 0.25);

        // another client's come too; a file makes another instance
        await daemon.call("POST", at(id, "/snapshots"), {});
        await page.waitForSelector(".snapshots >> text=s-2");
        const file = await saved(page, "Save file s-1");
        assert.equal(file.name, `${id}-s-1.mechd`);
        await press(page, "Delete s-1");
        await page.waitForSelector(".snapshots >> text=s-1", { state: "detached" });
        assert.deepEqual(
            (await got(at(id, "/snapshots"))).items.map((s) => s.id),
            ["s-2"],
        );
        await page.setInputFiles("#file", {
            name: file.name,
            mimeType: "application/octet-stream",
            buffer: file.bytes,
        });
        await until(() => page.evaluate((old) => !location.hash.endsWith(old), id), "a new one");
        await until(async () => (await time(page)) === 0.25, "in the state of the file");
        assert.deepEqual(page.complaints, []);

        // no snapshot: refused, and said so
        await page.setInputFiles("#file", {
            name: "nonsense.mechd",
            mimeType: "application/octet-stream",
            buffer: Buffer.from("nonsense"),
        });
        await page.waitForSelector(".notice >> text=snapshot-mismatch");
    },

    async one_page_drives_and_another_one_watches() {
        const { page, id } = await shown();
        await page.waitForSelector('text="No owner: any client may send commands"');
        const other = await open({ hash: `#/${id}` });
        await press(page, "Become owner");
        await page.waitForSelector("text=You are the owner");
        await other.waitForSelector("text=The owner is page: commands are refused here");
        for (const name of ["Run in real time", "Step", "Reset", "Start run"]) {
            assert.equal(await other.getByRole("button", { name, exact: true }).isDisabled(), true);
        }
        await picture(other, "watching");
        assert.equal((await daemon.call("POST", at(id, "/step"), { size: 1 })).status, 409);
        // the refusal of a command names the owner
        await press(other, "Take a snapshot");
        await other.waitForSelector(".notice >> text=foreign-lease");
        await press(page, "Step");
        await until(async () => (await time(page)) > 0, "the driver steps");
        // the tab keeps it
        await page.reload();
        await page.waitForSelector("text=You are the owner");
        await press(page, "Release");
        await page.waitForSelector('text="No owner: any client may send commands"');
        assert.deepEqual((await got(at(id, "/lease"))).items, []);
        await other.waitForSelector('text="No owner: any client may send commands"');
        assert.equal(await other.isDisabled("text=Reset"), false);
        assert.deepEqual(page.complaints, []);
    },

    async a_co_driver_sets_its_inputs_beside_an_owner() {
        const model = await got(`/v1/examples/${EXAMPLE}`);
        const load = model.loads.find((item) => item.name === "push");
        model.loads.push({ ...load, name: "pull", marker: "x1" });
        model.inputs.push({ name: "pull", load: "pull" });
        const { id } = (await daemon.call("POST", "/v1/instances", { model })).body;
        const inputs = async () => (await got(at(id, "/inputs"))).inputs;
        const readOnly = (of, name) => of.locator(`#input-${name}`).evaluate((b) => b.readOnly);
        const page = await open({ hash: `#/${id}` });
        const other = await open({ hash: `#/${id}` });
        await press(page, "Other roles");
        const become = page.getByRole("button", { name: "Become co-driver" });
        assert.equal(await become.isDisabled(), true);
        await page.check("section[aria-label='Other roles'] input[value=push]");
        await picture(page, "roles");
        await become.click();
        await page.waitForSelector("text=You set push; there is no owner");
        assert.equal(await page.isVisible("text=Other roles"), false);
        const [lease] = (await got(at(id, "/lease"))).items;
        assert.deepEqual([lease.role, lease.channels], ["co-driver", ["push"]]);

        // others see it, and leave its input alone
        await other.waitForSelector("text=page: co-driver of push");
        assert.equal(await readOnly(other, "push"), true);
        assert.equal(await readOnly(other, "pull"), false);
        await press(other, "Other roles");
        const taken = other.getByLabel("push (page)", { exact: true });
        assert.equal(await taken.isDisabled(), true);
        await press(other, "Close");
        await press(other, "Become owner");
        await page.waitForSelector("text=You set push; the owner is page");
        assert.equal(await page.getByRole("button", { name: "Step" }).isDisabled(), true);
        assert.equal(await readOnly(page, "pull"), true);
        await page.fill("#input-push", "12.5");
        await page.press("#input-push", "Enter");
        await until(async () => (await inputs()).push === 12.5, "the co-driver sets its input");
        await picture(page, "co-driver");
        await press(other, "Release");

        // without an owner it may do what anybody may
        await page.waitForSelector("text=You set push; there is no owner");
        await press(page, "Step");
        await until(async () => (await time(page)) > 0, "it steps");
        await page.fill("#input-pull", "2");
        await page.press("#input-pull", "Enter");
        await until(async () => (await inputs()).pull === 2, "it sets a free input");
        await page.reload();
        await page.waitForSelector("text=You set push; there is no owner");
        await press(page, "Release");
        await page.waitForSelector('text="No owner: any client may send commands"');
        assert.deepEqual((await got(at(id, "/lease"))).items, []);
        await other.waitForSelector("text=co-driver of push", { state: "hidden" });
        assert.equal(await readOnly(other, "push"), false);
        assert.deepEqual(page.complaints, []);
        assert.deepEqual(other.complaints, []);
    },

    async an_observer_changes_nothing_and_is_seen() {
        const { page, id } = await shown({ viewport: { width: 390, height: 860 } });
        await page.waitForSelector('text="No owner: any client may send commands"');
        await page.getByRole("button", { name: "Other roles" }).focus();
        await page.keyboard.press("Enter");
        await page.waitForSelector("section[aria-label='Other roles'] input:focus");
        await picture(page, "narrow-roles");
        assert.ok(await fits(page));
        assert.deepEqual(await nameless(page), []);
        await page.getByRole("button", { name: "Become observer" }).focus();
        await page.keyboard.press("Enter");
        await page.waitForSelector("text=You are an observer: commands are disabled here");
        await page.waitForSelector(".driver button:focus >> text=Release");
        for (const name of ["Run in real time", "Step", "Reset", "Start run"]) {
            assert.equal(await page.getByRole("button", { name, exact: true }).isDisabled(), true);
        }
        assert.equal(await page.locator("#input-push").evaluate((box) => box.readOnly), true);
        const other = await open({ hash: `#/${id}` });
        await other.waitForSelector("text=page: observer");
        await press(other, "Step");
        await until(async () => (await time(page)) > 0, "it sees a step");
        assert.deepEqual(page.complaints, []);
        // what can be pressed is refused
        await press(page, "Take a snapshot");
        await page.waitForSelector(".notice >> text=foreign-lease");
        assert.deepEqual((await got(at(id, "/snapshots"))).items, []);
        await press(page, "Release");
        await page.waitForSelector('text="No owner: any client may send commands"');
        await press(page, "Step");
    },

    async a_lease_is_renewed_and_an_admin_breaks_it() {
        const { page, id } = await shown({
            before: (fresh) =>
                // the pause between renewals, forty times as fast as it is
                fresh.addInitScript(() => {
                    const real = window.setInterval;
                    window.setInterval = (act, ms) => real(act, ms === 20000 ? 500 : ms);
                }),
        });
        await page.route("**/lease", (route) => {
            const body = route.request().postDataJSON();
            return body?.role
                ? route.continue({ postData: JSON.stringify({ ...body, seconds: 15 }) })
                : route.continue();
        });
        let renewed = 0;
        page.on("response", (response) => {
            renewed += response.request().method() === "PATCH" && response.status() === 200;
        });
        await press(page, "Become owner");
        await page.waitForSelector("text=You are the owner");
        await until(() => renewed > 4, "it is renewed");
        assert.equal((await got(at(id, "/lease"))).items.length, 1);
        const other = await open({ hash: `#/${id}` });
        await press(other, "Revoke the lease");
        await other.waitForSelector('text="No owner: any client may send commands"');
        await page.waitForSelector('text="No owner: any client may send commands"');
        await press(page, "Step");
        await until(async () => (await time(page)) > 0, "anybody steps");
    },

    async durability_is_told() {
        const own = new Daemon();
        const folder = mkdtempSync(join(tmpdir(), "mechd-state-"));
        await own.start("--state", folder);
        const page = await (await browser.newContext()).newPage();
        const texts = {
            none: "not stored",
            checkpoint: "checkpoints every 1 s",
            "every-step": "every step stored",
        };
        for (const [durability, text] of Object.entries(texts)) {
            const body = { example: EXAMPLE, durability };
            const made = await own.call("POST", "/v1/instances", body);
            await page.goto(`${own.base}/#/${made.body.id}`);
            await page.waitForSelector(`.traits >> text=${text}`);
        }
        assert.equal(await own.stop(), 0);
    },

    async durability_is_chosen_where_the_server_stores() {
        const own = new Daemon();
        const state = join(mkdtempSync(join(tmpdir(), "mechd-state-")), "state");
        await own.start("--state", state, "--durability", "checkpoint");
        const page = await (await browser.newContext()).newPage();
        await page.goto(own.base);
        const texts = {
            "": "checkpoints every 1 s",
            none: "not stored",
            checkpoint: "checkpoints every 1 s",
            "every-step": "every step stored",
        };
        const choice = page.getByLabel("Durability", { exact: true });
        await choice.locator("option[value=every-step]").waitFor({ state: "attached" });
        assert.deepEqual(
            await choice.locator("option").evaluateAll((all) => all.map((o) => o.value)),
            Object.keys(texts),
        );
        await picture(page, "durability");
        for (const [durability, text] of Object.entries(texts)) {
            const before = page.url();
            await choice.selectOption(durability);
            await press(page, "Create");
            await page.waitForURL((url) => /#.i-/.test(url.hash) && String(url) !== before);
            await page.waitForSelector(`.traits >> text=${text}`);
            const id = page.url().split("#/")[1];
            const { body } = await own.call("GET", at(id));
            assert.equal(body.durability.mode ?? body.durability, durability || "checkpoint");
        }
        assert.equal(await own.stop(), 0);

        // one that keeps nothing does not offer to
        const bare = await open();
        await until(async () => (await bare.textContent("#about")) !== "", "it says what it is");
        assert.equal(await bare.isVisible("#keeping"), false);
        assert.deepEqual(bare.complaints, []);
    },

    async everything_fits_on_a_narrow_screen() {
        const { page } = await shown({ viewport: { width: 420, height: 860 } });
        await start(page, { "How long": "5" });
        await page.waitForSelector(`${RUN}[data-state=finished]`);
        await page.getByRole("button", { name: "Chart, run r-1" }).click();
        await press(page, "Take a snapshot");
        await page.waitForSelector(".snapshots >> text=s-1");
        await press(page, "Edit labels and time to live");
        await page.click(".names summary");
        await picture(page, "narrow-service");
        assert.ok(await fits(page));
        assert.deepEqual(await nameless(page), []);
        assert.deepEqual(page.complaints, []);
    },

    async runs_and_snapshots_work_from_the_keyboard() {
        const { page, id } = await shown();
        await page.focus("#run-period");
        await page.keyboard.press("Enter");
        await page.waitForSelector(`${RUN}[data-state=finished]`);
        await page.getByRole("button", { name: "Chart, run r-1" }).focus();
        await page.keyboard.press("Enter");
        await page.waitForSelector(".results >> text=rows");
        await page.focus(".results canvas");
        const before = await pixels(page, ".results canvas");
        await page.keyboard.press("ArrowLeft");
        await until(async () => (await pixels(page, ".results canvas")) !== before, "a cursor");
        await page.getByRole("button", { name: "Take a snapshot" }).focus();
        await page.keyboard.press("Enter");
        await page.waitForSelector(".snapshots >> text=s-1");
        await over(id, "r-1");
    },
};
