/** Parameter sweeps on the page, in a real browser, against the real daemon. */
import assert from "node:assert/strict";
import { until } from "./daemon.mjs";
import { daemon, fits, nameless, open, picture, press, saved, shown } from "./harness.mjs";

const got = async (path) => (await daemon.call("GET", path)).body;
const all = async () => (await got("/v1/sweeps")).items;
const SWEEP = ".sweeps li";
const GRID = { grid: { k: [1000, 2000] } };

/** The nth parameter of the form, from 0, and its values as a list. */
async function axis(page, nth, name, values) {
    const row = page.locator(".axis").nth(nth);
    await row.getByLabel("Parameter", { exact: true }).selectOption(name);
    await row.getByLabel("Values", { exact: true }).fill(values);
    return row;
}

/** The nth parameter of the form as a range. */
async function range(page, nth, name, [from, to, count]) {
    const row = page.locator(".axis").nth(nth);
    await row.getByLabel("Parameter", { exact: true }).selectOption(name);
    await row.getByLabel("How its values are given").selectOption("range");
    await row.getByLabel("From", { exact: true }).fill(from);
    await row.getByLabel("To", { exact: true }).fill(to);
    await row.getByLabel("Count", { exact: true }).fill(count);
}

/** The end of each point. */
async function far(page, kind, amount) {
    await page.selectOption("#sweep-end", kind);
    await page.getByLabel("How far", { exact: true }).fill(amount);
}

/** A sweep is over, on the page. */
const finished = (page) => page.waitForSelector(`${SWEEP}[data-state=finished]`);

/** The table of the page: its head, and its rows as numbers. */
const sheet = (page) =>
    page.evaluate(() => {
        const texts = (row) => [...row.cells].map((cell) => cell.textContent);
        const table = document.querySelector(".sheet table");
        return {
            head: texts(table.tHead.rows[0]),
            rows: [...table.tBodies[0].rows].map(texts),
            sides: [...table.querySelectorAll("td")].map((c) => getComputedStyle(c).textAlign),
        };
    });

export const tests = {
    async a_grid_is_swept_shown_and_saved() {
        const { page, id } = await shown();
        // what is not swept is as it is now, not as the document has it
        await daemon.call("PUT", `/v1/instances/${id}/parameters`, { parameters: { m: 2 } });
        await page.waitForSelector("text=No sweeps yet. A sweep runs");
        await press(page, "New sweep");
        await axis(page, 0, "k", "20; 40, 80");
        await press(page, "Add a parameter");
        await range(page, 1, "d", ["0.1", "0.3", "3"]);
        await page.waitForSelector("text=9 points");
        await far(page, "count", "200");
        await page.click("form[aria-label='Start a sweep'] .names summary");
        await page.uncheck("form[aria-label='Start a sweep'] input[value=x2]");
        await picture(page, "sweep-form");
        await press(page, "Start sweep");
        await finished(page);
        const [made] = await all();
        assert.match(await page.textContent(SWEEP), /k × d, 9 points.*100 %.*9 of 9 points/);

        // the same of a client that knows what it wants
        const model = await got(`/v1/instances/${id}/model`);
        model.parameters.m = 2;
        const other = await daemon.call("POST", "/v1/sweeps", {
            model,
            parameters: { grid: { k: [20, 40, 80], d: { from: 0.1, to: 0.3, count: 3 } } },
            count: 200,
            outputs: ["x1", "v2"],
        });
        const path = `/v1/sweeps/${other.body.id}`;
        await until(async () => (await got(path)).state === "finished", "the other sweep is over");
        const table = await got(`${path}/results`);
        assert.deepEqual(await got(`/v1/sweeps/${made.id}/results`), table);

        await press(page, `Table, sweep ${made.id}`);
        await page.waitForSelector(".sheet tbody tr >> nth=8");
        const { head, rows, sides } = await sheet(page);
        assert.deepEqual(head, ["point", "k", "d", "time", "x1", "v2"]);
        assert.equal(rows.length, 9);
        rows.flat().forEach((text, k) => {
            const value = table.rows.flat()[k];
            assert.ok(Math.abs(Number(text.replace("−", "-")) - value) <= 1e-5 * Math.abs(value));
        });
        // points stand below each other
        for (const k of head.keys()) {
            const places = rows.map((row) => row[k].split(".")[1]?.length ?? 0);
            assert.equal(new Set(places).size, 1, `${head[k]}: ${places}`);
        }
        assert.deepEqual([...new Set(sides)], ["right"]);
        assert.equal(await page.textContent(".results .note"), "9 rows");
        await page.locator(".sheet").scrollIntoViewIfNeeded();
        await picture(page, "sweep-table");

        const csv = await saved(page, `CSV, sweep ${made.id}`);
        assert.equal(csv.name, `${made.id}.csv`);
        const response = await fetch(`${daemon.base}${path}/results?format=csv`);
        assert.equal(csv.bytes.toString(), await response.text());
        const npy = await saved(page, `NPY, sweep ${made.id}`);
        assert.match(npy.bytes.subarray(1, 100).toString("latin1"), /^NUMPY[^]*\(9, 6\)/);
        await press(page, `Delete, sweep ${made.id}`);
        await page.waitForSelector(`[data-sweep=${made.id}]`, { state: "detached" });
        assert.deepEqual(
            (await all()).map((sweep) => sweep.id),
            [other.body.id],
        );
        assert.deepEqual(page.complaints, []);
    },

    async a_sweep_tells_its_progress_and_is_cancelled() {
        const { page } = await shown();
        await press(page, "New sweep");
        await range(page, 0, "k", ["20", "80", "100000"]);
        await far(page, "until", "5");
        await press(page, "Start sweep");
        await page.waitForSelector(`${SWEEP}[data-state=running]`);
        const [{ id }] = await all();
        const bar = page.getByRole("progressbar", { name: `Progress of sweep ${id}` });
        const done = () => bar.evaluate((element) => element.value);
        await until(async () => (await done()) > 0, "the sweep gets on");
        const first = await done();
        await until(async () => (await done()) > first, "and on");
        // a table follows it, and has so many rows and no more
        await press(page, `Table, sweep ${id}`);
        await page.waitForSelector("text=the first 200 rows: downloaded files have all");
        assert.equal((await sheet(page)).rows.length, 200);
        await press(page, `Stop and delete, sweep ${id}`);
        await page.waitForSelector(SWEEP, { state: "detached" });
        assert.equal((await daemon.call("GET", `/v1/sweeps/${id}`)).status, 404);
        assert.deepEqual(page.complaints, []);
    },

    async rows_on_the_way_are_kept_on_demand() {
        const { page } = await shown();
        await press(page, "New sweep");
        await axis(page, 0, "k", "20, 40");
        await far(page, "count", "60");
        await page.selectOption("#sweep-rows", "way");
        await page.getByLabel("Steps from row to row").fill("20");
        await press(page, "Start sweep");
        await finished(page);
        await page.getByRole("button", { name: /^Table/ }).click();
        await page.waitForSelector(".sheet tbody tr");
        const { rows } = await sheet(page);
        assert.deepEqual(
            rows.map((row) => `${row[0]} ${Number(row[2])}`),
            ["0 0", "0 0.02", "0 0.04", "0 0.06", "1 0", "1 0.02", "1 0.04", "1 0.06"],
        );
    },

    async points_that_fail_are_told_with_their_reasons() {
        const { page } = await shown();
        await press(page, "New sweep");
        await axis(page, 0, "m", "1, −1, 0");
        await far(page, "count", "10");
        await press(page, "Start sweep");
        await finished(page);
        await page.click("text=2 failed");
        await page.waitForSelector(".failures li >> nth=1");
        const reasons = await page.locator(".failures li").allTextContents();
        assert.equal(reasons.length, 2);
        assert.match(reasons[0], /Point 1: .*physicsMass: -1 .*must be greater than 0.*invalid-m/);
        await page.getByRole("button", { name: /^Table/ }).click();
        await page.waitForSelector(".sheet tbody tr >> nth=2");
        const { rows } = await sheet(page);
        assert.deepEqual(rows[1], ["1", "−1", "–", "–", "–", "–"]);
        await page.locator(".failures").scrollIntoViewIfNeeded();
        await picture(page, "sweep-failures");
        assert.deepEqual(page.complaints, []);
    },

    async a_sweep_that_is_not_possible_is_told_and_not_begun() {
        const { page } = await shown();
        await press(page, "New sweep");
        const row = await axis(page, 0, "k", "1, x");
        await press(page, "Start sweep");
        await page.waitForSelector(".axis input.wrong");
        const box = row.getByLabel("Values", { exact: true });
        assert.equal(await box.evaluate((element) => element === document.activeElement), true);
        await axis(page, 0, "k", "1, 2");
        await press(page, "Add a parameter");
        await axis(page, 1, "k", "3");
        await press(page, "Start sweep");
        await page.waitForSelector("text=the parameter k is given twice");
        await page.locator(".axis").nth(1).getByRole("button").click();
        assert.equal(await page.locator(".axis").count(), 1);
        // what the server refuses is reported with its place
        await range(page, 0, "k", ["1", "2", "1000001"]);
        await press(page, "Start sweep");
        await page.waitForSelector(".notice >> text=invalid-request");
        assert.match(await page.textContent(".notice"), /1000000/);
        assert.deepEqual(await all(), []);
        await press(page, "Close");
        assert.equal(await page.locator(".axis").count(), 0);
    },

    async sweeps_of_couplings_are_listed_on_the_page_of_all_even_with_a_model_s_name() {
        const { page, id } = await shown();
        const { name } = await got(`/v1/instances/${id}`);
        const example = "driven-oscillator";
        const coupling = {
            name,
            participants: [
                { name: "left", example },
                { name: "right", example },
            ],
            connections: [{ from: "left.x2", to: "right.push", factor: 1 }],
            scheme: { type: "Jacobi" },
            stepSize: 0.01,
        };
        const started = await daemon.call("POST", "/v1/sweeps", {
            coupling,
            parameters: { grid: { "left/k": [1, 2], "/stepSize": [0.01, 0.02] } },
            count: 3,
        });
        assert.equal(started.status, 202);
        const own = (
            await daemon.call("POST", "/v1/sweeps", { example, parameters: GRID, count: 10 })
        ).body;
        await page.waitForSelector(`[data-sweep=${own.id}]`);
        assert.equal(await page.locator(SWEEP).count(), 1);
        await page.click("text=Sweeps of the server");
        const row = `[data-sweep=${started.body.id}]`;
        await page.waitForSelector(`${row}[data-state=finished]`);
        assert.match(await page.textContent(row), /left\/k × \/stepSize, 4 points/);
        await page.locator(row).getByRole("button", { name: /^Table/ }).click();
        await page.waitForSelector(".sheet tbody tr >> nth=3");
        const { head, rows } = await sheet(page);
        assert.deepEqual(head.slice(0, 4), ["point", "left/k", "/stepSize", "time"]);
        assert.deepEqual(
            rows.map((cells) => cells[3]),
            ["0.03", "0.06", "0.03", "0.06"],
        );
        assert.deepEqual(page.complaints, []);
    },

    async sweeps_of_other_models_stand_on_a_page_of_their_own() {
        const { page, id } = await shown();
        const body = { example: "spring-mass-damper", parameters: GRID, count: 10 };
        const foreign = (await daemon.call("POST", "/v1/sweeps", body)).body;
        const mine = (
            await daemon.call("POST", "/v1/sweeps", { ...body, example: "driven-oscillator" })
        ).body;
        await page.waitForSelector(`[data-sweep=${mine.id}]`);
        assert.equal(await page.locator(SWEEP).count(), 1);
        await page.click("text=Sweeps of the server");
        await page.waitForSelector(`[data-sweep=${foreign.id}]`);
        assert.equal(await page.locator(SWEEP).count(), 2);
        const text = await page.textContent(`[data-sweep=${foreign.id}]`);
        assert.match(text, /spring, mass and damper/);
        // it is an address as others are, and no instance
        await page.reload();
        await page.waitForSelector(`[data-sweep=${foreign.id}]`);
        assert.equal(await page.getAttribute("#sweeps", "aria-current"), "true");
        // steady: the time in which it must not go elsewhere
        await new Promise((resolve) => setTimeout(resolve, 2000));
        assert.ok(page.url().endsWith("#/~sweeps"));
        await picture(page, "sweeps");
        await press(page, `Delete, sweep ${foreign.id}`);
        await page.waitForSelector(`[data-sweep=${foreign.id}]`, { state: "detached" });
        await page.click(`.list a[href="#/${id}"]`);
        await page.waitForSelector("canvas.plot");
        assert.equal(await page.getAttribute("#sweeps", "aria-current"), "false");
        assert.deepEqual(page.complaints, []);
    },

    async a_model_without_parameters_offers_no_sweep() {
        const { page } = await shown({ example: "mass1d" });
        await page.waitForSelector("text=This model has no parameters.");
        assert.equal(await page.isVisible("text=New sweep"), false);
        await page.click("text=Sweeps of the server");
        await page.waitForSelector("text=This server has no sweeps.");
    },

    async long_names_of_outputs_stay_on_a_narrow_screen() {
        const model = await got("/v1/examples/driven-oscillator");
        model.outputs[0].name = "displacementOfTheLeftMass";
        const { id } = (await daemon.call("POST", "/v1/instances", { model })).body;
        const page = await open({ viewport: { width: 390, height: 860 }, hash: `#/${id}` });
        await press(page, "New sweep");
        await page.click("form[aria-label='Start a sweep'] .names summary");
        for (const rows of ["end", "way"]) {
            await page.selectOption("#sweep-rows", rows);
            const group = page.getByRole("group", { name: "Outputs of the sweep" });
            const { x, width } = await group.boundingBox();
            assert.ok(x >= 0 && x + width <= 390, `${rows}: ${width} from ${x} on`);
        }
        assert.ok(await fits(page));
    },

    async sweeps_fit_on_a_narrow_screen_and_work_from_the_keyboard() {
        const { page } = await shown({ viewport: { width: 390, height: 860 } });
        await page.getByRole("button", { name: "New sweep" }).focus();
        await page.keyboard.press("Enter");
        await page.waitForSelector(".axis select:focus");
        await press(page, "Add a parameter");
        await page.locator(".axis").nth(1).getByLabel("How its").selectOption("range");
        await page.selectOption("#sweep-rows", "way");
        await page.locator("form[aria-label='Start a sweep']").scrollIntoViewIfNeeded();
        await picture(page, "narrow-sweep-form");
        await page.getByLabel("How far", { exact: true }).focus();
        await page.keyboard.press("Enter");
        await finished(page);
        await page.getByRole("button", { name: /^Table/ }).focus();
        await page.keyboard.press("Enter");
        await page.waitForSelector(".sheet tbody tr");
        // a table that is wider scrolls in its own place
        await page.focus(".sheet");
        await page.keyboard.press("ArrowDown");
        const down = () => page.evaluate(() => document.querySelector(".sheet").scrollTop > 0);
        await until(down, "it is scrolled");
        await picture(page, "narrow-sweep");
        assert.ok(await fits(page));
        assert.deepEqual(await nameless(page), []);
        const whole = await open({ viewport: { width: 390, height: 860 }, hash: "#/~sweeps" });
        await whole.waitForSelector(SWEEP);
        await picture(whole, "narrow-sweeps");
        assert.ok(await fits(whole));
        assert.deepEqual(page.complaints, []);
    },
};
