// A table that sorts, filters and turns pages, with rows that unfold where they have details.
import { type Column, columnOf, type Details, rowsOf, type Table, type Triple } from "./document.ts";
import { button, element } from "./dom.ts";
import { countOf, formatNumber, formatValue, isWebAddress } from "./format.ts";
import { choiceColumns, chooseRows, type Order } from "./rows.ts";
import { copy, csvOf, linesOf, save } from "./save.ts";

const PAGE_SIZE = 15;
const LONG = 24; // characters; longer texts may break anywhere

function intervalBar([lower, value, upper]: Triple): HTMLElement {
  const percent = (x: number) => `${(100 * x).toFixed(2)}%`;
  const text = `${formatNumber(value, "percent")}, from ${formatNumber(lower, "percent")} to ${formatNumber(upper, "percent")}`;
  const range = element("span", { class: "range", style: `left:${percent(lower)};width:${percent(upper - lower)}` });
  const mark = element("span", { class: "mark", style: `left:${percent(value)}` });
  return element("span", { class: "interval", role: "img", "aria-label": text, title: text }, range, mark);
}

function alignment(column: Column): string {
  return column.format === "text" || column.format === "interval" ? "" : "number";
}

// Opens beside the report, and tells the other page nothing about it.
function linkTo(address: string): HTMLElement {
  return element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, address);
}

function textCell(text: string): HTMLTableCellElement {
  const content = isWebAddress(text) ? linkTo(text) : text;
  return text.length > LONG
    ? element("td", { class: "long" }, element("span", { class: "clamped", title: text }, content))
    : element("td", {}, content);
}

function cell(column: Column, row: number): HTMLTableCellElement {
  const value = column.values[row];
  if (Array.isArray(value)) return element("td", {}, intervalBar(value as unknown as Triple));
  const text = formatValue(value, column.format);
  if (column.format !== "text") return element("td", { class: "number" }, text);
  const tone = column.tones?.[text];
  return tone ? element("td", {}, element("span", { class: `badge ${tone}` }, text)) : textCell(text);
}

function detailsTable(details: Details, row: number): HTMLElement {
  const body = element("tbody");
  for (let at = details.offsets[row] ?? 0; at < (details.offsets[row + 1] ?? 0); ++at) {
    body.append(element("tr", {}, ...details.columns.map((column) => cell(column, at))));
  }
  const heads = details.columns.map((column) =>
    element("th", { scope: "col", class: alignment(column) }, column.title),
  );
  return element(
    "table",
    { class: "details" },
    element("caption", {}, details.title),
    element("thead", {}, element("tr", {}, ...heads)),
    body,
  );
}

// Declared as a class as it remembers what the reader asked for.
export class TableView {
  readonly root: HTMLElement;
  private order: Order;
  private text = "";
  private choices: Record<string, string> = {};
  private page = 0;
  private rows: number[] = [];
  private readonly head = element("tr");
  private readonly body = element("tbody");
  private readonly status = element("span", { "aria-live": "polite", class: "status" });
  private readonly previous = button("‹ Previous", "Previous page", () => this.turnTo(this.page - 1));
  private readonly next = button("Next ›", "Next page", () => this.turnTo(this.page + 1));

  constructor(
    private readonly table: Table,
    headingLevel: "h3" | "h4" = "h3",
  ) {
    this.order = { column: table.sorted_by ?? "", descending: table.descending ?? false };
    const titleId = `${table.id}-title`;
    const content = element("table", { "aria-labelledby": titleId }, element("thead", {}, this.head), this.body);
    this.root = element(
      "section",
      { class: "block table", id: table.id, "aria-labelledby": titleId },
      element(headingLevel, { id: titleId }, table.title),
      table.description ? element("p", { class: "description" }, table.description) : null,
      this.controls(),
      element("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": titleId }, content),
      this.footer(),
    );
    this.update();
  }

  private controls(): HTMLElement {
    const tools = element("div", { class: "tools" });
    if (rowsOf(this.table) >= 8) {
      const filter = element("input", {
        type: "search",
        placeholder: "Filter",
        "aria-label": `Filter ${this.table.title}`,
        input: () => this.change(() => (this.text = filter.value)),
      });
      tools.append(filter);
    }
    for (const column of choiceColumns(this.table)) tools.append(this.choice(column));
    const copied = columnOf(this.table.columns, this.table.copied ?? "");
    if (copied) tools.append(this.copying(copied));
    tools.append(
      button("Save as CSV", `Save ${this.table.title} as CSV`, () =>
        save(`${this.table.id}.csv`, "text/csv", csvOf(this.table.columns, this.rows)),
      ),
    );
    return tools;
  }

  // What is shown now, a name per line: for the clipboard, or as a file.
  private copying(column: Column): DocumentFragment {
    const noun = `${column.title.toLowerCase()}s`;
    const press = button(`Copy ${noun}`, `Copy the ${noun} of ${this.table.title}, one per line`, async () => {
      const done = await copy(linesOf(column, this.rows));
      press.textContent = done ? "Copied" : "Not copied: save them";
    });
    const made = document.createDocumentFragment();
    made.append(
      press,
      button(`Save ${noun}`, `Save the ${noun} of ${this.table.title}, one per line`, () =>
        save(`${this.table.id}.txt`, "text/plain", linesOf(column, this.rows)),
      ),
    );
    return made;
  }

  private choice(column: Column): HTMLElement {
    const select = element("select", {
      "aria-label": `Only with ${column.title}`,
      change: () => this.change(() => (this.choices[column.name] = select.value)),
    });
    select.append(element("option", { value: "" }, `${column.title}: all`));
    for (const level of [...(column.levels ?? [])].sort()) select.append(element("option", { value: level }, level));
    return select;
  }

  private footer(): HTMLElement {
    const paging = element("nav", { class: "paging", "aria-label": `Pages of ${this.table.title}` });
    paging.append(this.status, this.previous, this.next);
    const leftOut = this.table.left_out;
    return element(
      "div",
      { class: "below" },
      paging,
      leftOut
        ? element("p", { class: "left-out" }, `${countOf(leftOut.rows, "more row")} not in this page: ${leftOut.where}`)
        : null,
    );
  }

  private change(apply: () => void): void {
    apply();
    this.page = 0;
    this.update();
  }

  private turnTo(page: number): void {
    this.page = page;
    this.showPage();
  }

  private sortBy(column: Column): void {
    const again = this.order.column === column.name;
    // Numbers are mostly looked at from the largest down.
    const descending = again ? !this.order.descending : column.format !== "text";
    this.change(() => (this.order = { column: column.name, descending }));
    this.head.querySelector<HTMLButtonElement>(`button[data-column="${CSS.escape(column.name)}"]`)?.focus();
  }

  private update(): void {
    this.rows = chooseRows(this.table, { text: this.text, choices: this.choices, order: this.order });
    const heads = this.table.columns.map((column) => this.headOf(column));
    if (this.table.details)
      heads.unshift(element("th", { scope: "col" }, element("span", { class: "hidden" }, "Unfold")));
    this.head.replaceChildren(...heads);
    this.showPage();
  }

  private headOf(column: Column): HTMLElement {
    const sorted = this.order.column === column.name;
    const direction = this.order.descending ? "descending" : "ascending";
    const arrow = sorted ? (this.order.descending ? "\u00a0↓" : "\u00a0↑") : "";
    return element(
      "th",
      { scope: "col", class: alignment(column), "aria-sort": sorted ? direction : "none" },
      element(
        "button",
        { type: "button", "data-column": column.name, click: () => this.sortBy(column) },
        column.title,
        element("span", { "aria-hidden": "true", class: "arrow" }, arrow),
      ),
    );
  }

  private showPage(): void {
    const pages = Math.max(1, Math.ceil(this.rows.length / PAGE_SIZE));
    this.page = Math.min(Math.max(this.page, 0), pages - 1);
    const first = this.page * PAGE_SIZE;
    const shown = this.rows.slice(first, first + PAGE_SIZE);
    this.body.replaceChildren(...shown.map((row) => this.rowOf(row)));
    const total = rowsOf(this.table);
    const filtered = this.rows.length === total ? "" : ` (of ${formatNumber(total, "integer")})`;
    this.status.textContent =
      this.rows.length === 0
        ? `No rows${filtered}`
        : `${formatNumber(first + 1, "integer")}–${formatNumber(first + shown.length, "integer")} of ${countOf(this.rows.length, "row")}${filtered}`;
    this.previous.disabled = this.page === 0;
    this.next.disabled = this.page === pages - 1;
    this.previous.hidden = this.next.hidden = pages === 1;
  }

  private rowOf(row: number): HTMLTableRowElement {
    const cells = this.table.columns.map((column) => cell(column, row));
    const line = element("tr", {}, ...cells);
    const details = this.table.details;
    if (details) line.prepend(this.unfolder(details, row, line));
    return line;
  }

  private unfolder(details: Details, row: number, line: HTMLTableRowElement): HTMLElement {
    const name = formatValue(this.table.columns[0]?.values[row], "text");
    let unfolded: HTMLElement | null = null;
    const toggle = button("▸", `${details.title}: ${name}`, () => {
      if (unfolded) {
        unfolded.remove();
        unfolded = null;
      } else {
        const wide = element("td", { colspan: this.table.columns.length + 1 }, detailsTable(details, row));
        unfolded = element("tr", { class: "unfolded" }, wide);
        line.after(unfolded);
      }
      toggle.setAttribute("aria-expanded", String(unfolded !== null));
      toggle.textContent = unfolded ? "▾" : "▸";
    });
    toggle.setAttribute("aria-expanded", "false");
    return element("td", { class: "unfold" }, toggle);
  }
}

// A chart's data as a table of its own.
export function asTable(block: { id: string; title: string; columns: readonly Column[] }): Table {
  return {
    type: "table",
    id: `${block.id}-data`,
    title: `Data: ${block.title}`,
    description: "",
    columns: block.columns,
  };
}
