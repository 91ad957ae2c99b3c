/** What the page shows while the server takes its time. */
import assert from "node:assert/strict";
import { until } from "./daemon.mjs";
import { daemon, fits, open, picture, press, shown, time } from "./harness.mjs";

const WAITING = "text=waiting for the server…";

/** Requests of a method at such an address get no answer until the returned function is called. */
async function hold(page, method, address) {
    const held = [];
    let over = false;
    await page.route(address, (route) =>
        over || route.request().method() !== method ? route.continue() : held.push(route),
    );
    return {
        count: () => held.length,
        release: async () => {
            over = true;
            await Promise.all(held.map((route) => route.continue()));
        },
    };
}

const badge = (page) => page.textContent(".head .badge");

export const tests = {
    async a_step_that_takes_long_is_told_at_its_button() {
        const { page, id } = await shown({ viewport: { width: 360, height: 740 } });
        const { count, release } = await hold(page, "POST", "**/step");
        await press(page, "Step");
        await page.waitForSelector(`.toolbar >> ${WAITING}`);
        await until(async () => (await badge(page)) === "busy", "the badge");
        await picture(page, "narrow-waiting");
        assert.ok(await fits(page));
        await press(page, "Step");
        await page.waitForSelector(".toolbar >> text=still waiting for the server");
        assert.equal(count(), 1);
        await release();
        await until(async () => (await time(page)) === 0.01, "the step");
        await until(async () => (await badge(page)) === "idle", "no longer busy");
        assert.equal(await page.locator(".toolbar >> text=waiting").count(), 0);
        assert.equal((await daemon.call("GET", `/v1/instances/${id}`)).body.time, 0.01);
        // what is quick says nothing, and each press is a step
        await press(page, "Step");
        await until(async () => (await time(page)) === 0.02, "one more step");
        await press(page, "Step");
        await until(async () => (await time(page)) === 0.03, "two more steps");
        assert.deepEqual(page.complaints, []);
    },

    async a_step_of_the_server_that_goes_on_for_hours_is_seen_as_busy() {
        const { page, id } = await shown({ colorScheme: "dark" });
        await page.fill("#size", "1e9");
        await press(page, "Step");
        await until(async () => (await badge(page)) === "busy", "the badge");
        await press(page, "Reset");
        await until(async () => (await page.locator(WAITING).count()) === 2, "at both buttons");
        await page.fill("#input-push", "3");
        await page.press("#input-push", "Enter");
        await page.waitForSelector(`.fields >> ${WAITING}`);
        // what the server still has does not take its place
        await page.waitForResponse((response) => response.url().endsWith("/inputs"));
        await page.waitForResponse((response) => response.url().endsWith("/inputs"));
        assert.equal(await page.inputValue("#input-push"), "3");
        await picture(page, "waiting");
        await daemon.call("DELETE", `/v1/instances/${id}`);
        await page.waitForSelector(".notice");
    },

    async a_step_is_stopped_by_the_button_of_runs_also_on_another_page() {
        const { page, id } = await shown();
        const other = await open({ hash: `#/${id}` });
        await other.waitForSelector("canvas.plot");
        await page.fill("#size", "1e9");
        await press(page, "Step");
        for (const one of [page, other]) {
            await until(async () => (await badge(one)) === "busy", "the badge");
            await one.waitForSelector('.list .dot.busy[title="busy"]');
        }
        await picture(other, "busy");
        await press(other, "Stop");
        await page.waitForSelector(".notice >> text=cancelled");
        for (const one of [page, other]) {
            await until(async () => (await badge(one)) === "idle", "no longer busy");
            await one.waitForSelector("text=Run in real time");
        }
        await press(page, "Reset");
        await page.fill("#size", "0.01");
        await press(page, "Step");
        await until(async () => (await time(page)) === 0.01, "a step as ever");
        assert.deepEqual(other.complaints, []);
    },

    async a_value_that_waits_is_followed_by_the_last_one() {
        const { page, id } = await shown();
        const { count, release } = await hold(page, "PUT", "**/parameters");
        for (const value of ["50", "60", "70"]) {
            await page.fill("#parameter-k", value);
            await page.press("#parameter-k", "Enter");
            await page.waitForSelector(`.fields >> text=waiting for the server`);
        }
        await page.waitForSelector(".fields >> text=still waiting for the server");
        assert.equal(count(), 1);
        await release();
        await until(async () => {
            const { body } = await daemon.call("GET", `/v1/instances/${id}/parameters`);
            return body.parameters.k === 70;
        }, "the last value");
        assert.equal(await page.inputValue("#parameter-k"), "70");
        await until(async () => (await page.locator("text=waiting").count()) === 0, "put away");
        assert.deepEqual(page.complaints, []);
    },
};
