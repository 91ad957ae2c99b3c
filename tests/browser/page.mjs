/** What a user does with the page, in a real browser, against the real daemon. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { Daemon, until } from "./daemon.mjs";
import {
    EXAMPLE,
    browser,
    daemon,
    drawn,
    guarded,
    linked,
    open,
    picture,
    pixels,
    press,
    require,
    shown,
    time,
} from "./harness.mjs";

export const tests = {
    async the_page_loads_without_complaints_or_foreign_requests() {
        const page = await open();
        await page.waitForSelector("text=Choose an instance");
        await until(
            async () => (await page.locator("#example option").count()) >= 5,
            "the examples",
        );
        await picture(page, "empty");
        assert.deepEqual(page.complaints, []);
        assert.ok(page.addresses.length > 8);
        assert.deepEqual(
            page.addresses.filter((url) => !url.startsWith(daemon.base)),
            [],
        );
    },

    async an_example_becomes_an_instance_and_is_selected() {
        // beside one that is shown already
        const { page, id } = await shown({ example: "mass1d" });
        await page.selectOption("#example", EXAMPLE);
        await page.click("#create button");
        const list = async () => (await daemon.call("GET", "/v1/instances")).body.items;
        const made = await until(async () => (await list()).find((i) => i.id !== id), "it is made");
        await until(async () => (await page.textContent("main h1")) === made.name, "it is shown");
        await page.waitForSelector(`.list a.here[href="#/${made.id}"]`);
        assert.deepEqual(page.complaints, []);
    },

    async a_run_moves_the_plot_and_stopping_halts_it() {
        const { page, id } = await shown();
        await press(page, "Run in real time");
        await page.waitForSelector(".head .badge.on");
        await until(async () => (await time(page)) > 1.5, "time runs");
        const first = await pixels(page);
        const drawn = await pixels(page, "canvas.drawing");
        const then = await time(page);
        await until(async () => (await time(page)) > then + 1, "time runs on");
        assert.ok((await pixels(page)) !== first, "the plot has not moved");
        assert.ok((await pixels(page, "canvas.drawing")) !== drawn, "the drawing has not moved");
        await page.hover("canvas.plot", { position: { x: 420, y: 120 } });
        await picture(page, "running");
        await press(page, "Stop");
        await page.waitForSelector(".head .badge:not(.on)");
        await until(
            async () => !(await daemon.call("GET", `/v1/instances/${id}`)).body.running,
            "the run ends",
        );
        const still = (await daemon.call("GET", `/v1/instances/${id}`)).body.time;
        await until(
            async () => Math.abs((await time(page)) - still) < 1e-3,
            "the page shows the last time",
        );
        assert.deepEqual(page.complaints, []);
    },

    async bodies_that_touch_show_their_contacts_on_demand() {
        const { page } = await shown({ example: "box-stack" });
        const box = page.getByLabel("Contacts and their forces");
        await box.waitFor();
        await press(page, "Step");
        await until(async () => (await time(page)) > 0, "the step is shown");
        await until(async () => (await drawn(page)) !== "", "the boxes are drawn");
        const bare = await pixels(page, "canvas.drawing");
        await box.check();
        await until(
            async () => (await pixels(page, "canvas.drawing")) !== bare,
            "the contacts are drawn",
        );
        await picture(page, "contacts");
        await box.uncheck();
        await until(
            async () => (await pixels(page, "canvas.drawing")) === bare,
            "the contacts are gone",
        );
        // a model without geometry has no such choice
        const other = (await shown({ example: "four-bar" })).page;
        await other.waitForSelector("canvas.drawing:visible");
        assert.equal(
            await other.getByLabel("Contacts and their forces").isVisible(),
            false,
        );
        assert.deepEqual(page.complaints, []);
    },

    async a_step_changes_time_and_values() {
        const { page, id } = await shown();
        const cell = "[data-output=x1]";
        const before = await page.textContent(cell);
        await page.fill("#size", "0.25");
        await press(page, "Step");
        await until(async () => (await time(page)) === 0.25, "the step is shown");
        assert.notEqual(await page.textContent(cell), before);
        assert.equal((await daemon.call("GET", `/v1/instances/${id}`)).body.time, 0.25);
    },

    async steps_of_another_client_are_seen() {
        const { page, id } = await shown();
        await daemon.call("POST", `/v1/instances/${id}/step`, { size: 0.5 });
        await until(async () => (await time(page)) === 0.5, "the other client's step");
        const value = (await daemon.call("GET", `/v1/instances/${id}/outputs`)).body.outputs.x2;
        const cell = (await page.textContent("[data-output=x2]")).replace("−", "-");
        assert.ok(Math.abs(parseFloat(cell) - value) < 1e-3);
    },

    async an_input_reaches_the_server_and_a_wrong_one_does_not() {
        const { page, id } = await shown();
        const inputs = async () =>
            (await daemon.call("GET", `/v1/instances/${id}/inputs`)).body.inputs;
        await page.fill("#input-push", "12.5");
        await page.press("#input-push", "Enter");
        await until(async () => (await inputs()).push === 12.5, "the input is set");
        await page.fill("#input-push", "12,x");
        await page.press("#input-push", "Enter");
        await page.waitForSelector("#input-push.wrong");
        assert.equal((await inputs()).push, 12.5);
    },

    async a_reset_goes_back_to_the_start() {
        const { page } = await shown();
        await press(page, "Step");
        await until(async () => (await time(page)) > 0, "the step");
        await press(page, "Reset");
        await until(async () => (await time(page)) === 0, "the reset");
    },

    async deleting_asks_once_and_then_deletes() {
        const { page, id } = await shown({
            before: (fresh) =>
                // however long it takes until the second press
                fresh.addInitScript(() => {
                    const real = window.setTimeout;
                    window.setTimeout = (act, ms) => real(act, ms === 4000 ? 4000000 : ms);
                }),
        });
        await press(page, "Delete");
        assert.equal((await daemon.call("GET", `/v1/instances/${id}`)).status, 200);
        await press(page, "Delete for good?");
        await until(
            async () => (await daemon.call("GET", `/v1/instances/${id}`)).status === 404,
            "it is gone",
        );
        await page.waitForSelector(`a[href="#/${id}"]`, { state: "detached" });
    },

    async a_refusal_is_told_with_its_reason() {
        const { page } = await shown();
        await page.route("**/step", (route) =>
            route.continue({ postData: JSON.stringify({ size: -1 }) }),
        );
        await press(page, "Step");
        const notice = await page.textContent(".notice");
        await picture(page, "refused");
        assert.match(notice, /Could not step/);
        assert.match(notice, /invalid-request/);
        assert.match(notice, /\/size/);
        await page.click(".notice button");
        await page.waitForSelector(".notice", { state: "detached" });
    },

    async a_press_before_the_examples_have_come_waits_for_them() {
        let come = () => {};
        const asked = new Promise((resolve) => (come = resolve));
        const page = await open({
            before: (fresh) =>
                fresh.route("**/v1/examples", async (route) => {
                    await asked;
                    await route.continue();
                }),
        });
        assert.equal(await page.locator("#example option").count(), 0);
        await press(page, "Create");
        come();
        await page.waitForSelector("canvas.plot");
    },

    async everything_works_from_the_keyboard() {
        const page = await open();
        await page.focus("#example");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.waitForSelector("canvas.plot");
        await page.focus("#size");
        await page.keyboard.press("Enter");
        await until(async () => (await time(page)) > 0, "the step");
        await page.focus("canvas.plot");
        const before = await pixels(page);
        await page.keyboard.press("ArrowLeft");
        await until(async () => (await pixels(page)) !== before, "the cursor is drawn");
    },

    async a_curve_can_be_switched_off() {
        const { page } = await shown();
        await press(page, "Step");
        await until(async () => (await time(page)) > 0, "the step");
        const button = page.locator("button.curve").first();
        assert.equal(await button.getAttribute("aria-pressed"), "true");
        const before = await pixels(page);
        await button.click();
        assert.equal(await button.getAttribute("aria-pressed"), "false");
        await until(async () => (await pixels(page)) !== before, "the curve is gone");
    },

    async the_plot_is_sharp_on_fine_screens() {
        const { page } = await shown({ deviceScaleFactor: 2 });
        await until(
            () =>
                page.evaluate(() => {
                    const canvas = document.querySelector("canvas.plot");
                    return canvas.width === 2 * canvas.clientWidth && canvas.clientWidth > 300;
                }),
            "twice the pixels",
        );
    },

    async dark_screens_get_a_dark_page() {
        const { page } = await shown({ colorScheme: "dark" });
        await press(page, "Run in real time");
        await until(async () => (await time(page)) > 3, "time runs");
        await picture(page, "dark");
        const light = await page.evaluate(() =>
            getComputedStyle(document.body)
                .backgroundColor.match(/\d+/g)
                .map(Number)
                .reduce((a, b) => a + b),
        );
        assert.ok(light < 200);
    },

    async a_narrow_screen_does_not_scroll_sideways() {
        const { page } = await shown({ viewport: { width: 390, height: 800 } });
        await picture(page, "narrow");
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    },

    async every_example_is_shown() {
        const examples = (await daemon.call("GET", "/v1/examples")).body.items;
        assert.ok(examples.length >= 5);
        for (const { name } of examples) {
            const { page, id } = await shown({ example: name });
            await daemon.call("POST", `/v1/instances/${id}/step`, { count: 200 });
            await until(async () => (await time(page)) > 0, `${name} has moved`);
            await until(() => drawn(page), `${name} has a drawing`);
            const before = await drawn(page);
            await daemon.call("POST", `/v1/instances/${id}/step`, { count: 37 });
            // a stack of boxes stands
            if (name !== "box-stack") {
                await until(
                    async () => (await drawn(page)) !== before,
                    `the drawing of ${name} moves`,
                );
            }
            await picture(page, `example-${name}`);
            assert.deepEqual(page.complaints, [], name);
            await page.context().close();
        }
    },

    async an_address_that_names_nothing_is_told_and_left() {
        for (const hash of ["#/nothing", "#/%", "#/<b>"]) {
            const page = await open({ hash });
            await page.waitForSelector("text=Could not show");
            await until(
                () => page.evaluate(() => !/nothing|%|b/.test(location.hash)),
                "the address is left",
            );
            await daemon.call("POST", "/v1/instances", { example: EXAMPLE });
            await page.waitForSelector(".list a");
            await page.context().close();
        }
    },

    async a_server_that_ends_is_noticed() {
        const own = new Daemon();
        await own.start();
        const page = await (await browser.newContext()).newPage();
        await page.goto(own.base);
        await linked(page, "live");
        assert.equal(await own.stop(), 0);
        await linked(page, "no connection");
    },

    async a_server_with_tokens_asks_for_one() {
        const { own, token } = await guarded("step");
        const page = await (await browser.newContext()).newPage();
        const complaints = [];
        page.on("pageerror", (error) => complaints.push(String(error)));
        await page.goto(own.base);
        await page.waitForSelector("form.login");
        await picture(page, "login");
        assert.equal(await page.isVisible(".side"), false);
        await page.fill("#token", "nonsense");
        await page.keyboard.press("Enter");
        await page.waitForSelector("text=does not accept this token");
        await page.fill("#token", `${token.slice(0, 9)}\u200b${token.slice(9)}`);
        await page.press("#token", "Enter");
        await page.waitForSelector("text=Character 10 of the token is U+200B.");
        await page.fill("#token", token);
        await press(page, "Log in");
        await linked(page, "live");
        await page.waitForSelector("text=rig (step)");

        // live events carry the token too
        await page.selectOption("#example", EXAMPLE);
        await page.click("#create button");
        await page.waitForSelector("canvas.plot");
        await press(page, "Run in real time");
        await until(async () => (await time(page)) > 0.2, "time goes on");
        await picture(page, "logged-in");

        // the tab keeps it, another one does not, and it can be put away
        await page.reload();
        await linked(page, "live");
        await page.waitForSelector("canvas.plot");
        const other = await (await browser.newContext()).newPage();
        await other.goto(own.base);
        await other.waitForSelector("form.login");
        await press(page, "Log out");
        await page.waitForSelector("form.login");
        assert.equal(await page.evaluate(() => sessionStorage.length), 0);
        assert.deepEqual(complaints, []);
        assert.equal(await own.stop(), 0);
    },

    async a_token_in_the_address_is_taken_over_and_removed() {
        const { own, token } = await guarded("read");
        const page = await (await browser.newContext()).newPage();
        await page.goto(`${own.base}/#token=${token}`);
        await linked(page, "live");
        await page.waitForSelector("text=rig (read)");
        assert.equal(page.url(), `${own.base}/`);
        await page.goto("about:blank");
        await page.goBack();
        assert.ok(!page.url().includes(token));
        await page.waitForSelector("text=rig (read)");

        // what its scope does not allow is reported, and it stays logged in
        await page.click("#create button");
        await page.waitForSelector("text=this needs the scope step");
        assert.equal(await page.isVisible("form.login"), false);
        assert.equal(await own.stop(), 0);
    },

    async a_token_that_is_withdrawn_is_asked_for_again() {
        const { own, token, file } = await guarded("step");
        const page = await (await browser.newContext()).newPage();
        await page.goto(`${own.base}/#token=${token}`);
        await linked(page, "live");
        writeFileSync(file, "# nobody\n");
        own.process.kill("SIGHUP");
        await page.waitForSelector("form.login");
        await page.waitForSelector("text=no longer accepts this token");
        assert.equal(await own.stop(), 0);
    },

    async the_modules_pass_the_type_checker() {
        const tsc = require.resolve("typescript/bin/tsc");
        const folder = new URL("../../clients/web", import.meta.url).pathname;
        execFileSync(process.execPath, [tsc, "--project", "tsconfig.json"], { cwd: folder });
    },
};
