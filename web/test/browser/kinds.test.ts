// Every kind of chart that a document may ask for.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixture } from "../fixture.ts";
import { type Opened, Pages } from "./pages.ts";

let pages: Pages;
let opened: Opened;

beforeAll(async () => {
  pages = await Pages.start();
  pages.write("labels.csv", "task,worker,label\na,b,c\n");
  pages.crowdfold("report", pages.path("labels.csv"), "-o", pages.path("empty.html"));
  const html = readFileSync(pages.path("empty.html"), "utf8");
  const json = JSON.stringify(fixture).replaceAll("<", "\\u003c");
  pages.write(
    "kinds.html",
    html.replace(/(id="document">)[^<]*/, (_all, tag) => tag + json),
  );
  opened = await pages.open("kinds.html", { viewport: { width: 900, height: 900 } });
});

afterAll(async () => pages?.stop());

test.each([
  ["bars", "g[aria-label=bar] rect", 2],
  ["dots", "g[aria-label=dot] circle", 4],
  ["dots", "g[aria-label=rule] line", 2],
  ["histogram", "g[aria-label=rect] rect", 3],
  ["lines", "g[aria-label=line] path", 2],
  ["lines", "g[aria-label=area] path", 2],
  ["lines", "g[aria-label=dot] circle", 5], // one value is missing
  ["scatter", "g[aria-label=dot] circle", 3],
  ["heatmap", "g[aria-label=cell] rect", 4],
  ["intervals", "g[aria-label=dot] circle", 3],
  ["intervals", "g[aria-label=rule] line", 3],
])("a chart of %s has its marks: %s", async (kind, selector, count) => {
  expect(await opened.page.locator(`#chart-${kind} .drawing ${selector}`).count()).toBe(count);
});

test("facets have their names, log scales their powers", async () => {
  const facets = await opened.page.locator("#chart-lines .drawing text").allTextContents();
  expect(facets).toEqual(expect.arrayContaining(["one", "two"]));
  const ticks = await opened.page.locator("#chart-scatter [aria-label='x-axis tick label'] text").allTextContents();
  expect(ticks).toEqual(expect.arrayContaining(["0.01", "1", "100"]));
});

test("nothing was complained of", () => {
  expect(opened.complaints).toEqual([]);
  expect(opened.requests).toEqual([]);
});
