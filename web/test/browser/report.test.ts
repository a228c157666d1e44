// A report of a small crowd with truths: everything that a page can show.
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Chart, columnOf, parseDocument, rowsOf, type Table } from "../../src/document.ts";
import { type Opened, Pages } from "./pages.ts";

let pages: Pages;
let opened: Opened;

beforeAll(async () => {
  pages = await Pages.start();
  pages.crowdfold(
    ...["simulate", "--workers", "40", "--tasks", "300", "--spammers", ".2", "--classes", "3", "--seed", "4"],
    ...["-o", pages.path("labels.csv"), "--truth-out", pages.path("truth.csv")],
  );
  const report = [
    "report",
    pages.path("labels.csv"),
    "--truth",
    pages.path("truth.csv"),
    "--methods",
    "mv,threepass,ds",
  ];
  pages.crowdfold(...report, "-o", pages.path("report.html"));
  pages.crowdfold(...report, "-o", pages.path("report.json"));
  opened = await pages.open("report.html", { viewport: { width: 1100, height: 900 } });
});

afterAll(async () => pages?.stop());

const json = (): unknown => JSON.parse(readFileSync(pages.path("report.json"), "utf8"));
const blocks = () => parseDocument(json()).sections.flatMap((section) => section.blocks);
const tables = () => blocks().filter((block): block is Table => block.type === "table");
const charts = () => blocks().filter((block): block is Chart => block.type === "chart");
const tableOf = (id: string) => tables().find((table) => table.id === id) as Table;
const rowsOfChart = (id: string) => rowsOf(charts().find((chart) => chart.id === id) as Chart);
const marks = (selector: string) => opened.page.locator(selector).count();
const texts = (selector: string) => opened.page.locator(selector).allTextContents();

describe("a report", () => {
  test("fits the schema", () => {
    const schema = JSON.parse(readFileSync(new URL("../../document.schema.json", import.meta.url), "utf8"));
    const valid = new Ajv({ strict: false }).compile(schema);
    expect(valid(json()), JSON.stringify(valid.errors)).toBe(true);
  });

  test("begins with its headline", async () => {
    const text = (await opened.page.locator("h1").textContent())?.replaceAll("\u00a0", " ");
    expect(text).toBe(parseDocument(json()).headline);
    expect(text).toMatch(/^\d+ % of 300 tasks with a known truth are answered right \(\d+ % to \d+ %\)/);
  });

  test("asks nothing of the network and complains of nothing", () => {
    expect(opened.requests).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("has every chart of the document, each with a name and a description", async () => {
    expect(charts().length).toBeGreaterThanOrEqual(9);
    for (const chart of charts()) {
      const svg = opened.page.locator(`#${chart.id} .drawing > svg`);
      expect(await svg.getAttribute("role")).toBe("img");
      expect(await svg.getAttribute("aria-label")).toBe(chart.title);
      expect(await svg.getAttribute("aria-description")).toBe(chart.description);
    }
  });

  test("draws a mark for every row", async () => {
    expect(await marks("#confidence svg g[aria-label=rect] rect")).toBe(rowsOfChart("confidence"));
    expect(await marks("#quality svg g[aria-label=dot] circle")).toBe(40);
    expect(await marks("#quality svg g[aria-label=rule] line")).toBe(40 + 1); // and the line of a guess
    expect(await marks("#balance svg g[aria-label=dot] circle")).toBe(3 * 3);
    expect(await marks("#mix-ups svg g[aria-label=cell] rect")).toBe(3 * 3);
    expect(await marks("#agreement svg g[aria-label=cell] rect")).toBe(rowsOfChart("agreement"));
    expect(await marks("#method-agreement svg g[aria-label=cell] rect")).toBe(3 * 3);
    expect(await marks("#calibration svg g[aria-label=dot] circle")).toBe(rowsOfChart("calibration"));
    expect(await marks("#drift svg g[aria-label=line] path")).toBe(2);
  });

  test("sorts a table by a press on a head, by mouse and by keyboard", async () => {
    const head = opened.page.locator("#workers-table th", { hasText: "Labels" });
    const labels = async () =>
      (await texts("#workers-table tbody tr td:nth-child(7)")).map((text) => Number(text.replaceAll(",", "")));
    await head.locator("button").click();
    expect(await head.getAttribute("aria-sort")).toBe("descending");
    const down = await labels();
    expect(down).toEqual([...down].sort((a, b) => b - a));
    await head.locator("button").focus();
    await opened.page.keyboard.press("Enter");
    expect(await head.getAttribute("aria-sort")).toBe("ascending");
    const up = await labels();
    expect(up).toEqual([...up].sort((a, b) => a - b));
    expect(up[0]).toBe(Math.min(...((columnOf(tableOf("workers-table").columns, "labels")?.values ?? []) as number[])));
    expect(await opened.page.evaluate(() => document.activeElement?.getAttribute("data-column"))).toBe("labels");
  });

  test("filters and turns pages", async () => {
    const status = opened.page.locator("#workers-table .status");
    await opened.page.locator("#workers-table button", { hasText: "Next" }).click();
    expect(await status.textContent()).toBe("16–30 of 40 rows");
    await opened.page.locator("#workers-table input").fill("worker_07");
    expect(await texts("#workers-table tbody tr td:first-child")).toEqual(["worker_07"]);
    await opened.page.locator("#workers-table input").fill("");
  });

  test("unfolds a task to who said what", async () => {
    await opened.page.locator("#first-tasks .unfold button").first().click();
    const first = tableOf("first-tasks").details?.offsets[1];
    expect(await marks("#first-tasks .details tbody tr")).toBe(first);
    expect((await texts("#first-tasks .details thead th")).length).toBe(4);
  });

  test("saves charts as SVG and tables as CSV", async () => {
    const saved = async (name: string) => {
      const [download] = await Promise.all([
        opened.page.waitForEvent("download"),
        opened.page.getByRole("button", { name, exact: true }).click(),
      ]);
      return readFileSync(await download.path(), "utf8");
    };
    const svg = await saved("Save How sure the answers are as SVG");
    expect(svg).toContain('xmlns="http://www.w3.org/2000/svg"');
    expect(svg).toContain("<title>How sure the answers are</title>");
    expect(svg).not.toContain("var(");
    const lines = (await saved("Save Workers as CSV")).trimEnd().split("\r\n");
    expect(lines).toHaveLength(40 + 1);
    expect(lines[0]).toMatch(/^worker,mark,quality_lower,quality,quality_upper,lower,mean,upper,labels/);
  });

  test("finds and saves the answers of all tasks, as a file of estimates", async () => {
    expect(await texts("#answers .status")).toEqual(["1–15 of 300 rows"]);
    await opened.page.locator("#answers input").fill("task_042");
    expect(await texts("#answers tbody td:first-child")).toEqual(["task_042"]);
    await opened.page.locator("#answers input").fill("");
    const [download] = await Promise.all([
      opened.page.waitForEvent("download"),
      opened.page.getByRole("button", { name: "Save All answers as CSV", exact: true }).click(),
    ]);
    const file = await download.path();
    const lines = readFileSync(file, "utf8").trimEnd().split("\r\n");
    expect(lines).toHaveLength(300 + 1);
    expect(lines[0]).toMatch(/^task,label,confidence/);
    expect(pages.crowdfold("evaluate", file, pages.path("truth.csv"))).toContain("accuracy");
  });

  test("has its workers with the worst first", async () => {
    const { page } = await pages.open("report.html");
    const upper = (await page.locator("#workers-table tbody tr td:nth-child(6)").allTextContents()).map(
      Number.parseFloat,
    );
    expect(upper).toEqual([...upper].sort((a, b) => a - b));
    await page.close();
  });

  test("changes between light and dark, charts included", async () => {
    const fill = () => opened.page.locator("#quality svg g[aria-label=dot] circle").first().getAttribute("fill");
    const light = await fill();
    await opened.page.getByRole("button", { name: "Light or dark" }).click();
    await opened.page.waitForSelector("#app[data-drawn]");
    expect(await opened.page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
    expect(await fill()).not.toBe(light);
  });

  test("fits a phone", async () => {
    const phone = await pages.open("report.html", { viewport: { width: 375, height: 800 }, colorScheme: "dark" });
    expect(await phone.page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
    expect(phone.complaints).toEqual([]);
    await phone.page.close();
  });

  test("can be read from its landmarks, headings and labels", async () => {
    const { page } = opened;
    for (const role of ["banner", "main", "contentinfo"] as const) expect(await page.getByRole(role).count()).toBe(1);
    expect(await page.locator("h1").count()).toBe(1);
    const nameless = await page.evaluate(
      () =>
        [...document.querySelectorAll("button, input, select")].filter(
          (control) => !(control.getAttribute("aria-label") || control.textContent?.trim()),
        ).length,
    );
    expect(nameless).toBe(0);
    expect(await page.locator("th:not([scope])").count()).toBe(0);
    const ids = await page.evaluate(() => [...document.querySelectorAll("[id]")].map((found) => found.id));
    expect(new Set(ids).size).toBe(ids.length);
  });
});
