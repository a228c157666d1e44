// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parseDocument } from "../src/document.ts";
import { Page } from "../src/page.ts";
import { column, fixture, workers } from "./fixture.ts";

let root: HTMLElement;
let page: Page;

beforeEach(() => {
  document.body.innerHTML = '<div id="app"></div>';
  root = document.getElementById("app") as HTMLElement;
  page = new Page(root);
  page.show(parseDocument(fixture));
});

// Charts that are still to be drawn would look for a document that is gone.
afterEach(() => vi.waitFor(() => expect(root.hasAttribute("data-drawn")).toBe(true)));

const all = (selector: string) => [...root.querySelectorAll<HTMLElement>(selector)];
const firstCells = () =>
  all("#workers > .scroll > table > tbody > tr > td:nth-child(2)").map((cell) => cell.textContent);

describe("a page", () => {
  test("shows texts as texts", () => {
    expect(root.querySelector("h1")?.textContent).toBe(fixture.headline);
    expect(root.querySelector("script, img")).toBeNull();
    expect(document.title).toBe(fixture.title);
  });

  test("has landmarks and a link to each section", () => {
    for (const landmark of ["header", "nav", "main", "footer"]) expect(root.querySelector(landmark)).not.toBeNull();
    expect(all(".contents a").map((link) => link.getAttribute("href"))).toEqual(["#next", "#people", "#charts"]);
  });

  test("says what was left out", () => {
    expect(all(".left-out").map((note) => note.textContent)).toEqual([
      "3 more rows not in this page: elsewhere",
      "9 more rows not drawn: between",
    ]);
  });

  test("can be shown again with another document", () => {
    page.show(parseDocument({ ...fixture, headline: "Later", sections: [] }));
    expect(root.querySelector("h1")?.textContent).toBe("Later");
    expect(all("section")).toHaveLength(0);
  });

  test("says in words what it cannot read", () => {
    page.complain("It is <b>empty</b>.");
    expect(root.querySelector("[role=alert]")?.textContent).toContain("It is <b>empty</b>.");
  });
});

describe("a table on a page", () => {
  const head = (name: string) => root.querySelector(`#workers button[data-column=${name}]`) as HTMLButtonElement;

  test("begins in the order that the document asks for, and tells so", () => {
    expect(firstCells()[0]).toBe("w2");
    expect(head("labels").parentElement?.getAttribute("aria-sort")).toBe("descending");
    expect(head("worker").parentElement?.getAttribute("aria-sort")).toBe("none");
  });

  test("sorts when a head is pressed, and back when it is pressed again", () => {
    head("worker").click();
    expect(firstCells()[0]).toBe("w1");
    head("worker").click();
    expect(firstCells()[0]).toBe("w10");
    expect(head("worker").parentElement?.getAttribute("aria-sort")).toBe("descending");
  });

  test("filters, and tells how many rows there are", () => {
    const input = root.querySelector("#workers input") as HTMLInputElement;
    input.value = "random";
    input.dispatchEvent(new Event("input"));
    expect(firstCells()).toEqual(["w2", "w7"]);
    expect(root.querySelector("#workers .status")?.textContent).toBe("1–2 of 2 rows (of 8)");
    input.value = "nobody";
    input.dispatchEvent(new Event("input"));
    expect(root.querySelector("#workers .status")?.textContent).toBe("No rows (of 8)");
  });

  test("unfolds a row's details and folds them again", () => {
    head("worker").click();
    const toggle = root.querySelector("#workers .unfold button") as HTMLButtonElement;
    toggle.click();
    expect(toggle.getAttribute("aria-expanded")).toBe("true");
    expect(all("#workers .details tbody td").map((cell) => cell.textContent)).toEqual(["cat", "dog"]);
    toggle.click();
    expect(all("#workers .details")).toHaveLength(0);
  });
});

describe("names in a table", () => {
  const shown = (names: string[]) => {
    const table = { ...workers, columns: [column("worker", "text", names)], details: undefined, left_out: undefined };
    page.show(parseDocument({ ...fixture, sections: [{ id: "s", title: "S", blocks: [table] }] }));
  };

  test("that are addresses of the web are links that tell nothing", () => {
    shown(["https://example.com/1.jpg", "javascript:alert(1)"]);
    const links = all("#workers tbody a");
    expect(links.map((link) => link.getAttribute("href"))).toEqual(["https://example.com/1.jpg"]);
    expect(links[0]?.getAttribute("rel")).toBe("noopener noreferrer");
  });

  test("can be copied, one per line", async () => {
    shown(["ann", "bob"]);
    let copied = "";
    Object.defineProperty(navigator, "clipboard", {
      configurable: true,
      value: {
        writeText: async (text: string) => {
          copied = text;
        },
      },
    });
    const press = all("#workers .tools button").find((found) => found.textContent === "Copy workers");
    press?.click();
    await vi.waitFor(() => expect(press?.textContent).toBe("Copied"));
    expect(copied).toBe("ann\nbob\n");
  });

  test("that are long are cut on the page, and whole in their title", () => {
    const name = "a long name of a class ".repeat(20);
    shown([name]);
    const cut = root.querySelector("#workers td.long .clamped");
    expect(cut?.getAttribute("title")).toBe(name);
  });
});

test("a chart's data can be read as a table", () => {
  const toggle = root.querySelector("#chart-bars button") as HTMLButtonElement;
  toggle.click();
  expect(all("#chart-bars-data tbody tr")).toHaveLength(2);
  expect(toggle.getAttribute("aria-expanded")).toBe("true");
});
