/** Models that come from files, and their values: the list, inputs and parameters on the page. */
import assert from "node:assert/strict";
import { until } from "./daemon.mjs";
import { EXAMPLE, daemon, fits, open, picture } from "./harness.mjs";

const at = (id, rest = "") => `/v1/instances/${id}${rest}`;
const got = async (path) => (await daemon.call("GET", path)).body;

/** Choose a file of that text. */
const give = (page, name, text) =>
    page.setInputFiles("#file", {
        name,
        mimeType: "application/json",
        buffer: Buffer.from(text),
    });

/** A daemon with fifty instances; the last one's id. */
async function crowd() {
    let id = "";
    for (let k = 0; k < 50; k++) {
        id = (await daemon.call("POST", "/v1/instances", { example: "mass1d" })).body.id;
    }
    return id;
}

/** The middle of an element is on the screen, without scrolling. */
const inSight = (page, selector) =>
    page.evaluate((which) => {
        const box = document.querySelector(which).getBoundingClientRect();
        const y = (box.top + box.bottom) / 2;
        return y > 0 && y < innerHeight;
    }, selector);

export const tests = {
    async a_model_in_a_file_becomes_an_instance() {
        const page = await open();
        const model = { ...(await got(`/v1/examples/${EXAMPLE}`)), name: "from a file" };
        await give(page, "mine.json", `\ufeff${JSON.stringify(model, null, 2)}`);
        await page.waitForSelector("main h1 >> text=from a file");
        await page.waitForSelector("canvas.plot");
        // what it is counts, not how it is called
        await give(page, "mine.txt", JSON.stringify({ ...model, name: "another one" }));
        await page.waitForSelector("main h1 >> text=another one");
        assert.deepEqual(page.complaints, []);
    },

    async a_file_that_is_no_model_is_refused_with_every_fault() {
        const page = await open({ viewport: { width: 360, height: 740 } });
        const model = await got(`/v1/examples/${EXAMPLE}`);
        model.objects[0].physicsMass = -1;
        model.loads[0].marker = "nowhere";
        model.extra = 1;
        const reply = await daemon.call("POST", "/v1/instances", { model });
        assert.ok(reply.body.errors.length >= 2);
        await give(page, "wrong.json", JSON.stringify(model));
        await page.waitForSelector(".notice >> text=Could not create from the file");
        const told = await page.textContent(".notice");
        for (const { pointer, message } of reply.body.errors) {
            assert.ok(told.includes(pointer) && told.includes(message), pointer);
        }
        await until(() => inSight(page, ".notice"), "the refusal is on the screen");
        assert.ok(await fits(page));
        await picture(page, "file-refused");

        // lines and columns are the file's
        await give(page, "broken.json", '{\n  "mechd": 1,\n  oops\n}');
        await page.waitForSelector(".notice >> text=line 3, column");
        assert.equal((await got("/v1/instances")).items.length, 0);
    },

    async fifty_instances_leave_the_form_in_sight() {
        const last = await crowd();
        for (const viewport of [
            { width: 1280, height: 860 },
            { width: 1280, height: 540 },
            { width: 360, height: 740 },
        ]) {
            const page = await open({ viewport, hash: `#/${last}` });
            await page.waitForSelector(`.list a.here[href="#/${last}"]`);
            const wide = viewport.width > 700;
            assert.ok(!wide || (await inSight(page, "#create button")), "the form is in sight");
            const top = await page.evaluate(
                () => document.querySelector("#create").getBoundingClientRect().top,
            );
            assert.ok(top < 860, `the form begins at ${top}`);
            await picture(page, `fifty-${viewport.width}-${viewport.height}`);
            // the one that is shown is in sight too
            await until(
                () =>
                    page.evaluate(() => {
                        const row = document.querySelector(".list a.here");
                        const box = document.querySelector("#list").getBoundingClientRect();
                        const { top: above, bottom: below } = row.getBoundingClientRect();
                        return above >= box.top - 1 && below <= box.bottom + 1;
                    }),
                "the row of the one that is shown is in the box",
            );
            assert.ok(await fits(page));
            // where the reader has scrolled to stays, while rows are renewed
            await page.evaluate(() => (document.querySelector("#list").scrollTop = 700));
            await page.focus(".list li:nth-child(40) a");
            await page.evaluate(() => (document.querySelector("#list").scrollTop = 700));
            const listed = () =>
                page.waitForResponse((response) => response.url().includes("/v1/instances?"));
            await listed();
            await listed();
            const stayed = () => page.evaluate(() => document.querySelector("#list").scrollTop);
            assert.equal(await stayed(), 700);
            await page.keyboard.press("Enter");
            await until(() => page.evaluate((old) => location.hash !== old, `#/${last}`), "chosen");
            // and the form scrolls with nobody
            if (wide) {
                await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
                assert.ok(await inSight(page, "#create button"), "in sight at the page's end");
            }
            await page.context().close();
        }
    },
};
