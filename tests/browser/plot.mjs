/** What the live plot draws between samples, and where its labels stand. */
import assert from "node:assert/strict";
import { until } from "./daemon.mjs";
import { daemon, picture, press, shown, time } from "./harness.mjs";

/** Of the columns between the first and the last one that a curve is in, the part that has one. */
const filled = (page) =>
    page.evaluate(() => {
        const canvas = document.querySelector("canvas.plot");
        const copy = new OffscreenCanvas(canvas.width, canvas.height);
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data, width, height } = context.getImageData(0, 0, copy.width, copy.height);
        const columns = [];
        for (let x = 0; x < width; x++) {
            let coloured = false;
            for (let y = 0; y < height && !coloured; y++) {
                const k = 4 * (y * width + x);
                const [r, g, b, a] = data.subarray(k, k + 4);
                coloured = a > 60 && Math.max(r, g, b) - Math.min(r, g, b) > 40;
            }
            columns.push(coloured);
        }
        const first = columns.indexOf(true);
        const part = columns.slice(first, columns.lastIndexOf(true) + 1);
        return { width: part.length, part: part.filter(Boolean).length / part.length };
    });

/** A run as fast as it goes, started here. */
async function fast(page, seconds, run) {
    await page.getByLabel("How long", { exact: true }).fill(String(seconds));
    await press(page, "Start run");
    await page.waitForSelector(`.runs li[data-run=${run}][data-state=finished]`);
}

/** Keeps the texts of the live plot's last picture, and where they stand. */
const keepTexts = (page) =>
    page.addInitScript(() => {
        const { prototype } = CanvasRenderingContext2D;
        const { clearRect, fillText } = prototype;
        window.texts = [];
        prototype.clearRect = function (...all) {
            window.texts = this.canvas.matches(".plot") ? [] : window.texts;
            return clearRect.apply(this, all);
        };
        prototype.fillText = function (text, x, y) {
            if (this.canvas.matches(".plot") && this.textBaseline === "top") {
                const wide = this.measureText(text).width;
                const part = { left: 0, center: 0.5, right: 1 }[this.textAlign];
                window.texts.push({ text, from: x - part * wide, to: x + (1 - part) * wide });
            }
            return fillText.call(this, text, x, y);
        };
    });

export const tests = {
    async a_fast_run_is_dots_and_no_straight_lines() {
        const { page } = await shown();
        await fast(page, 10, "r-1");
        await until(async () => (await time(page)) === 10, "the end is shown");
        await until(async () => (await filled(page)).part < 0.4, "the line is broken");
        assert.ok((await filled(page)).width > 400, "its dots are there");
        await picture(page, "fast-run");
        // what follows it step by step is joined
        await press(page, "Reset");
        await until(async () => (await time(page)) === 0, "the reset");
        await page.fill("#size", "0.05");
        for (let k = 1; k <= 12; k++) {
            await press(page, "Step");
            await until(async () => Math.abs((await time(page)) - k * 0.05) < 1e-3, `step ${k}`);
        }
        const now = await filled(page);
        assert.ok(now.width > 200 && now.part === 1, JSON.stringify(now));
    },

    async a_stream_is_joined_and_broken_only_where_a_fast_run_is() {
        const { page, id } = await shown();
        await press(page, "Run in real time");
        await until(async () => (await time(page)) > 3, "time runs");
        await press(page, "Stop");
        await page.waitForSelector(".head .badge:not(.on)");
        const stream = await filled(page);
        assert.ok(stream.width > 300 && stream.part === 1, JSON.stringify(stream));
        // another client's fast run
        await daemon.call("POST", `/v1/instances/${id}/runs`, { pace: 0, until: 8 });
        await until(async () => (await time(page)) === 8, "the end of the fast run");
        await until(async () => (await filled(page)).part < 0.8, "the line is broken");
        assert.ok((await filled(page)).part > 0.3, "the stream is still joined");
        await picture(page, "fast-after-stream");
    },

    async labels_of_the_time_axis_do_not_touch() {
        for (const width of [1280, 360]) {
            const { page, id } = await shown({
                example: "mass1d",
                viewport: { width, height: 860 },
                before: keepTexts,
            });
            for (let t = 880.4; t < 882.5; t += 0.1) {
                const now = (await daemon.call("GET", `/v1/instances/${id}`)).body.time;
                await daemon.call("POST", `/v1/instances/${id}/step`, { size: t - now });
                await until(async () => Math.abs((await time(page)) - t) < 0.006, `at ${t}`);
                const texts = await until(async () => {
                    const all = await page.evaluate(() => window.texts);
                    return all.some(({ text }) => text === "time / s") ? all : null;
                }, "the labels");
                texts.sort((a, b) => a.from - b.from);
                texts.slice(1).forEach(({ from, text }, k) => {
                    const { to, text: before } = texts[k];
                    assert.ok(from > to + 2, `${before} touches ${text} at ${t}`);
                });
                assert.ok(texts.length >= (width > 700 ? 4 : 2), "labels are left");
            }
            await picture(page, `labels-of-time-${width}`);
            await page.context().close();
        }
    },
};
