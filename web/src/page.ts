// The page of a document. show() may be called again with a newer one.
import { ChartView } from "./charts/figure.ts";
import type { Advice, Block, DocumentData, Facts, Section } from "./document.ts";
import { button, element } from "./dom.ts";
import { TableView } from "./table.ts";
import { applyTheme, chooseTheme, themeName } from "./theme.ts";

const DRAWN_AT_ONCE = 2;

// Numbers stay with what they count.
function keepTogether(text: string): string {
  return text.replace(/(\d) (?=[%\p{L}])/gu, "$1\u00a0");
}

function factsList(block: Facts): HTMLElement {
  const items = block.facts.map((fact) =>
    element(
      "div",
      { class: "fact" },
      element("dt", {}, fact.label),
      element(
        "dd",
        {},
        element("strong", {}, keepTogether(fact.value)),
        fact.note ? element("span", {}, fact.note) : null,
      ),
    ),
  );
  return element("dl", { class: "block facts" }, ...items);
}

function adviceList(block: Advice): HTMLElement {
  const items = block.items.map((item) =>
    element(
      "li",
      { class: item.tone },
      keepTogether(item.text),
      item.section ? element("a", { href: `#${item.section}`, "aria-label": `See: ${item.text}` }, "See") : null,
    ),
  );
  return element("ol", { class: "block advice" }, ...items);
}

export class Page {
  private charts: ChartView[] = [];
  private turn = 0;
  private readonly observer = new ResizeObserver(() => this.fit(false));

  constructor(private readonly root: HTMLElement) {
    applyTheme(themeName());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      applyTheme(themeName());
      this.fit(true);
    });
    this.observer.observe(root);
  }

  show(data: DocumentData): void {
    document.title = data.title;
    this.charts = [];
    const main = element("main", { id: "main", tabindex: -1 });
    for (const section of data.sections) main.append(this.section(section));
    this.root.replaceChildren(
      element("a", { class: "skip", href: "#main" }, "Skip to the content"),
      this.masthead(data),
      this.contents(data),
      main,
      element("footer", {}, element("p", {}, [data.footnote, data.generator].filter(Boolean).join(" · "))),
    );
    this.fit(true);
  }

  complain(message: string): void {
    document.title = "crowdfold";
    this.root.replaceChildren(
      element("main", { role: "alert" }, element("h1", {}, "There is nothing to show"), element("p", {}, message)),
    );
  }

  private masthead(data: DocumentData): HTMLElement {
    const theme = button("◐", "Light or dark", () => {
      chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
      this.fit(true);
    });
    return element(
      "header",
      {},
      element("div", { class: "top" }, element("p", { class: "kicker" }, data.title), theme),
      element("h1", {}, keepTogether(data.headline)),
      data.subtitle ? element("p", { class: "subtitle" }, data.subtitle) : null,
    );
  }

  private contents(data: DocumentData): HTMLElement {
    const links = data.sections.map((section) =>
      element("li", {}, element("a", { href: `#${section.id}` }, section.title)),
    );
    return element("nav", { class: "contents", "aria-label": "Sections" }, element("ul", {}, ...links));
  }

  private section(section: Section): HTMLElement {
    const titleId = `${section.id}-heading`;
    return element(
      "section",
      { class: "section", id: section.id, "aria-labelledby": titleId },
      element("h2", { id: titleId }, section.title),
      ...section.blocks.map((block) => this.block(block)),
    );
  }

  private block(block: Block): HTMLElement {
    switch (block.type) {
      case "prose":
        return element("p", { class: "block prose" }, keepTogether(block.text));
      case "facts":
        return factsList(block);
      case "advice":
        return adviceList(block);
      case "table":
        return new TableView(block).root;
      case "chart": {
        const view = new ChartView(block);
        this.charts.push(view);
        return view.root;
      }
    }
  }

  // Draws what must be drawn: the first charts at once, the others one by one, so that the page answers meanwhile.
  private fit(force: boolean): void {
    const waiting = this.charts.filter((chart) => force || chart.isOutgrown());
    const turn = ++this.turn;
    for (const chart of waiting.splice(0, DRAWN_AT_ONCE)) chart.draw();
    const drawNext = () => {
      if (turn !== this.turn) return; // a newer wish came
      const chart = waiting.shift();
      this.root.toggleAttribute("data-drawn", chart === undefined);
      if (chart === undefined) return;
      chart.draw();
      setTimeout(drawNext);
    };
    drawNext();
  }
}
