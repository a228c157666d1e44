// Writes docs/img/report.png: the top of the report of a simulated crowd.
// Usage: node tools/report_picture.mjs [CROWDFOLD]
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "../web/node_modules/playwright-core/index.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const program = process.argv[2] ?? join(root, "build/crowdfold");
const folder = mkdtempSync(join(tmpdir(), "crowdfold-picture."));
const crowd = "simulate --workers 60 --tasks 2000 --labels-per-task 7 --spammers .08 --adversaries .02 --seed 3";
execFileSync(program, [...crowd.split(" "), "--class-names", "cat,dog,fox,owl", "-q", "-o", join(folder, "photos.csv")]);
execFileSync(program, ["report", join(folder, "photos.csv"), "-q", "-o", join(folder, "report.html")]);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1040, height: 1180 } });
await page.goto(`file://${join(folder, "report.html")}`);
await page.waitForSelector("#app[data-drawn]");
await page.screenshot({ path: join(root, "docs/img/report.png") });
await browser.close();
rmSync(folder, { recursive: true });
