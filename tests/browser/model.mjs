/** Models that come from files, and their values: the list, inputs and parameters on the page. */
import assert from "node:assert/strict";
import { until } from "./daemon.mjs";
import { EXAMPLE, daemon, fits, nameless, open, picture, press, shown } from "./harness.mjs";

const at = (id, rest = "") => `/v1/instances/${id}${rest}`;
const got = async (path) => (await daemon.call("GET", path)).body;
const parameters = async (id) => (await got(at(id, "/parameters"))).parameters;

/** Choose a file of that text. */
const give = (page, name, text) =>
    page.setInputFiles("#file", {
        name,
        mimeType: "application/json",
        buffer: Buffer.from(text),
    });

/** Type into a field, and press Enter. */
async function enter(page, field, text) {
    await page.fill(field, text);
    await page.press(field, "Enter");
}

/** The text by which a field is described to a screen reader, or "". */
const described = (page, field) =>
    page.evaluate((which) => {
        const box = document.querySelector(which);
        const told = document.getElementById(box.getAttribute("aria-describedby") ?? "");
        const loud = told?.closest("[role=alert]") && !told.hidden;
        return box.getAttribute("aria-invalid") === "true" && loud ? told.textContent : "";
    }, field);

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

    async a_file_with_what_is_not_seen_is_refused_by_its_place() {
        const page = await open();
        const text = JSON.stringify(await got(`/v1/examples/${EXAMPLE}`));
        const marked = Buffer.from('\u00ef\u00bb\u00bf{"\u00c3\u00a4\u00ff": 1}', "latin1");
        for (const [name, content, told] of [
            ["wide.json", Buffer.from(`\ufeff${text}`, "utf16le"), "the text is UTF-16"],
            ["wide.txt", Buffer.from(`\ufeff${text}`, "utf16le"), "the text is UTF-16"],
            ["bare.txt", Buffer.from(text, "utf16le"), "the text is UTF-16"],
            ["big.txt", Buffer.from(text, "utf16le").swap16(), "the text is UTF-16"],
            ["latin.json", Buffer.from('{"\u00e4": 1}', "latin1"), "line 1, column 3: the byte 0xe4"],
            ["marked.json", marked, "line 1, column 4: the byte 0xff"],
            ["blank.json", `{"\u00e4":\u00a01}`, "line 1, column 6: U+00A0"],
            ["first.txt", `\u200b${text}`, "line 1, column 1: U+200B"],
            ["twice.json", '{"\u00e4": 1, "\u00e4": 2}', "line 1, column 12: duplicate"],
            ["none.json", "", "none.json is empty"],
        ]) {
            await give(page, name, content);
            await page.waitForSelector(`.notice >> text=${told}`);
            assert.ok(!/[\u00a0\u200b\ufffd]/.test(await page.textContent(".notice")), name);
        }
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
            // and the form does not scroll with the list
            if (wide) {
                await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
                assert.ok(await inSight(page, "#create button"), "in sight at the page's end");
            }
            await page.context().close();
        }
    },

    async parameters_are_shown_and_changed() {
        const { page, id } = await shown();
        const section = page.locator("section", { has: page.getByText("Parameters") });
        assert.deepEqual(await section.locator("label").allTextContents(), [
            "m",
            "k",
            "d",
            "amplitude",
        ]);
        assert.equal(await page.inputValue("#parameter-k"), "40");
        await enter(page, "#parameter-k", "55.5");
        await until(async () => (await parameters(id)).k === 55.5, "the parameter is set");
        assert.equal((await parameters(id)).m, 1);

        // a refusal gives its reason, at the field and as a notice, and the value stays as it was
        await enter(page, "#parameter-m", "0");
        await page.waitForSelector(".notice >> text=must be greater than 0");
        assert.match(await page.textContent(".notice"), /\/objects\/1\/physicsMass/);
        await until(
            async () => /greater than 0/.test(await described(page, "#parameter-m")),
            "reported at the field",
        );
        assert.equal((await parameters(id)).m, 1);
        await picture(page, "parameters");
        await enter(page, "#parameter-m", "2");
        await until(async () => (await parameters(id)).m === 2, "a right one is set");
        await until(async () => (await described(page, "#parameter-m")) === "", "put away");

        // another client's values come too
        await daemon.call("PUT", at(id, "/parameters"), { parameters: { d: 0.75 } });
        await until(async () => (await page.inputValue("#parameter-d")) === "0.75", "it is shown");
        await daemon.call("PUT", at(id, "/inputs"), { inputs: { push: 3 } });
        await until(async () => (await page.inputValue("#input-push")) === "3", "inputs too");
        assert.deepEqual(await nameless(page), []);
        // a model without any has no such panel
        const other = (await shown({ example: "mass1d" })).page;
        assert.equal(await other.getByText("Parameters", { exact: true }).count(), 0);
    },

    async parameters_are_left_to_the_holder_of_a_lease() {
        const { page, id } = await shown({ viewport: { width: 360, height: 740 } });
        const other = await open({ hash: `#/${id}`, colorScheme: "dark" });
        await press(other, "Become owner");
        await page.waitForSelector("text=The owner is page");
        const box = page.locator("#parameter-k");
        await until(() => box.evaluate((b) => b.readOnly), "it can only be read");
        assert.match(await box.getAttribute("title"), /the owner is page/);
        await enter(other, "#parameter-k", "60");
        await until(async () => (await parameters(id)).k === 60, "the holder sets it");
        await until(async () => (await box.inputValue()) === "60", "and the other sees it");
        await box.scrollIntoViewIfNeeded();
        await picture(page, "narrow-parameters");
        await picture(other, "dark-parameters");
        assert.ok(await fits(page));
        await press(other, "Release");
        await until(async () => !(await box.evaluate((b) => b.readOnly)), "it is free");
        assert.deepEqual(page.complaints, []);
    },

    async a_wrong_value_is_told_in_words() {
        const { page, id } = await shown();
        for (const kind of ["input-push", "parameter-k"]) {
            const good = await page.inputValue(`#${kind}`);
            for (const [text, words] of [
                ["abc", /abc.*not a number/],
                ["", /number is missing/],
                ["NaN", /NaN.*not a number/],
                ["1e999", /1e999.*not a number/],
                ["1,5", /1,5.*not a number.*point/],
            ]) {
                await enter(page, `#${kind}`, text);
                await until(async () => words.test(await described(page, `#${kind}`)), text);
            }
            await picture(page, `wrong-${kind}`);
            await enter(page, `#${kind}`, good);
            await until(async () => (await described(page, `#${kind}`)) === "", "right again");
        }
        assert.equal((await parameters(id)).k, 40);
        assert.deepEqual(page.complaints, []);

        // vectors have as many numbers as the input
        const model = await got("/v1/examples/double-pendulum");
        model.loads = [{ name: "pull", type: "LoadForceVector", marker: "upper-end" }];
        model.inputs = [{ name: "pull", load: "pull" }];
        const made = await daemon.call("POST", "/v1/instances", { model });
        assert.equal(made.status, 201, JSON.stringify(made.body));
        const other = await open({ hash: `#/${made.body.id}` });
        await enter(other, "#input-pull", "1, 2");
        await until(
            async () => /3 numbers are needed/.test(await described(other, "#input-pull")),
            "too few of them",
        );
        await enter(other, "#input-pull", "1, 2, 3");
        const values = async () => (await got(at(made.body.id, "/inputs"))).inputs.pull;
        await until(async () => String(await values()) === "1,2,3", "a right one is set");
    },

    async the_warnings_of_a_model_are_shown_as_long_as_it_is_there() {
        const model = await got("/v1/examples/double-pendulum");
        const joint = model.objects.find(({ type }) => /Joint|Connector.*Constraint/.test(type));
        model.objects.push({ ...joint, name: "again" });
        const made = await daemon.call("POST", "/v1/instances", { model });
        assert.equal(made.status, 201, JSON.stringify(made.body));
        const [{ pointer, message }] = made.body.warnings;
        const page = await open({
            viewport: { width: 360, height: 740 },
            hash: `#/${made.body.id}`,
        });
        await page.waitForSelector("main canvas.plot");
        assert.equal(await page.textContent(".warnings li"), `${pointer} ${message}`);
        assert.ok(await fits(page));
        await picture(page, "warnings");
        const other = (await daemon.call("POST", "/v1/instances", { example: EXAMPLE })).body.id;
        const bare = await open({ hash: `#/${other}` });
        await bare.waitForSelector("main canvas.plot");
        assert.equal(await bare.locator(".warnings").count(), 0);
        assert.deepEqual([...page.complaints, ...bare.complaints], []);
    },
};
