/** The real daemon on free ports, in a folder of its own; ended with its exit code checked. */
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const build = process.env.MECHD_TESTS_BUILD || "build/tests";

/** The condition's first true value; an error at the deadline. */
export async function until(condition, what, seconds = 10) {
    // steady: a deadline
    const deadline = Date.now() + 1000 * seconds * Number(process.env.MECHD_TESTS_DEADLINE || 1);
    for (;;) {
        const value = await condition();
        if (value) {
            return value;
        }
        // steady: the same
        if (Date.now() > deadline) {
            throw new Error(`waited ${seconds} s in vain: ${what}`);
        }
        // steady: between two looks
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
}

export class Daemon {
    program = join(build, "server", "mechd");
    /** Those that have been started and have not ended. */
    static running = new Set();

    async start(...more) {
        this.folder = mkdtempSync(join(tmpdir(), "mechd-browser-"));
        this.log = join(this.folder, "log");
        const ready = join(this.folder, "ready.json");
        const log = openSync(this.log, "w");
        this.process = spawn(
            this.program,
            [
                "--listen",
                "127.0.0.1:0",
                "--control",
                "tcp://127.0.0.1:*",
                "--stream",
                "tcp://127.0.0.1:*",
                "--forces",
                "tcp://127.0.0.1:*",
                "--state",
                "none",
                "--ready-file",
                ready,
                ...more,
            ],
            { stdio: ["ignore", log, log] },
        );
        Daemon.running.add(this);
        this.ended = new Promise((resolve) => {
            this.process.on("error", (error) => resolve(error.message));
            this.process.on("exit", resolve);
        });
        void this.ended.then(() => Daemon.running.delete(this));
        const info = await until(() => {
            if (this.process.exitCode !== null) {
                throw new Error(`mechd ended: ${readFileSync(this.log, "utf8").slice(-500)}`);
            }
            try {
                return JSON.parse(readFileSync(ready, "utf8"));
            } catch {
                return null;
            }
        }, "the daemon's ready file");
        this.base = info.http.startsWith("http") ? info.http : `http://${info.http}`;
    }

    async call(method, path, body) {
        const response = await fetch(this.base + path, {
            method,
            headers: { "Content-Type": "application/json" },
            body: body === undefined ? undefined : JSON.stringify(body),
        });
        const text = await response.text();
        return { status: response.status, body: text ? JSON.parse(text) : null };
    }

    /** Ends the daemon; its exit code. */
    async stop() {
        this.process.kill("SIGTERM");
        const code = await this.ended;
        rmSync(this.folder, { recursive: true, force: true });
        return code;
    }
}
