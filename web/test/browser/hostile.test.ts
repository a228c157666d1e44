// Names that want to be more than text, and pages whose data is damaged.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Pages } from "./pages.ts";

let pages: Pages;

beforeAll(async () => {
  pages = await Pages.start();
});

afterAll(async () => pages?.stop());

test("names of tasks, workers and classes stay text", async () => {
  const script = "</script><script>alert(1)</script>";
  const image = "<img src=x onerror=alert(2)>";
  const comment = "<!--<script>";
  const rows = ["task,worker,label"];
  for (let t = 0; t < 20; ++t) {
    for (const worker of [image, comment, "plain"]) rows.push(`${script}${t},${worker},${t % 2 ? image : comment}`);
    rows.push(`${script}${t},liar,${t % 2 ? comment : image}`);
  }
  pages.write("labels.csv", `${rows.join("\n")}\n`);
  pages.crowdfold("report", pages.path("labels.csv"), "-o", pages.path("report.html"), "--title", script);
  const { page, requests, complaints } = await pages.open("report.html");
  expect(complaints).toEqual([]);
  expect(requests).toEqual([]);
  expect(await page.title()).toBe(script);
  expect(await page.locator("img").count()).toBe(0);
  expect(await page.locator("script").count()).toBe(2); // the data and the program
  expect(await page.locator("#workers-table tbody").textContent()).toContain(image);
});

test("long names and addresses fit a phone, and workers to leave out can be copied", async () => {
  const name = "a class whose name is a whole sentence of the guidelines ".repeat(6).trim();
  const rows = ["task,worker,label"];
  for (let t = 0; t < 120; ++t) {
    const [yes, no] = t % 2 ? ["cat", name] : [name, "cat"];
    for (const worker of ["ann", "bob", "cid", "dan"])
      rows.push(`https://example.com/${t}.jpg?size=large,${worker},${yes}`);
    rows.push(`https://example.com/${t}.jpg?size=large,liar,${no}`);
  }
  pages.write("long.csv", `${rows.join("\n")}\n`);
  pages.crowdfold("report", pages.path("long.csv"), "-o", pages.path("long.html"));
  const { page, requests, complaints } = await pages.open("long.html", { viewport: { width: 375, height: 800 } });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
  expect(await page.locator("#answers tbody a").first().getAttribute("rel")).toBe("noopener noreferrer");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#leave-out").getByRole("button", { name: "Save the workers" }).click(),
  ]);
  const file = await download.path();
  expect(readFileSync(file, "utf8")).toBe("liar\n");
  expect(requests).toEqual([]);
  expect(complaints).toEqual([]);
  // The file is one that commands take.
  pages.crowdfold("report", pages.path("long.csv"), "--without-workers", file, "-o", pages.path("without.json"));
  expect(readFileSync(pages.path("without.json"), "utf8")).not.toContain("liar");
});

test("a damaged document is said to be damaged", async () => {
  pages.write("labels.csv", "task,worker,label\na,b,c\n");
  pages.crowdfold("report", pages.path("labels.csv"), "-o", pages.path("good.html"));
  const html = readFileSync(pages.path("good.html"), "utf8");
  const { page } = await pages.open("good.html");
  for (const [version, words] of [
    ["2,", "knows version 1"],
    ["", "cannot be read"],
  ]) {
    pages.write("bad.html", html.replace('"version":1,', `"version":${version}`));
    await page.goto(`file://${pages.path("bad.html")}`);
    expect(await page.locator("[role=alert]").textContent()).toContain(words);
  }
});
