// A chart on the page: title, legend, drawing, its data as a table on request, and what to save.
import type { Chart } from "../document.ts";
import { button, element } from "../dom.ts";
import { countOf, formatTick } from "../format.ts";
import { csvOf, save } from "../save.ts";
import { asTable, TableView } from "../table.ts";
import { currentTheme } from "../theme.ts";
import { formatOf, seriesColors, titleOf, valueDomain } from "./data.ts";
import { svgFile, svgOf } from "./svg.ts";

const NARROWEST = 260;
const FILE_WIDTH = 760;

export class ChartView {
  readonly root: HTMLElement;
  private readonly place = element("div", { class: "drawing" });
  private readonly legend = element("ul", { class: "legend", "aria-label": "Colours" });
  private data: HTMLElement | null = null;
  private width = 0;

  constructor(private readonly chart: Chart) {
    const titleId = `${chart.id}-title`;
    const toggle = button("Data", `Show the data of ${chart.title} as a table`, () => this.toggleData(toggle));
    toggle.setAttribute("aria-expanded", "false");
    this.root = element(
      "figure",
      { class: "block chart", id: chart.id, "aria-labelledby": titleId },
      element(
        "figcaption",
        {},
        element("h3", { id: titleId }, chart.title),
        chart.description ? element("p", { class: "description" }, chart.description) : null,
      ),
      element("div", { class: "tools" }, toggle, ...this.saving()),
      this.legend,
      this.place,
      chart.left_out
        ? element(
            "p",
            { class: "left-out" },
            `${countOf(chart.left_out.rows, "more row")} not drawn: ${chart.left_out.where}`,
          )
        : null,
    );
  }

  private saving(): HTMLElement[] {
    const { chart } = this;
    const rows = chart.columns[0]?.values.keys() ?? [];
    return [
      button("SVG", `Save ${chart.title} as SVG`, () =>
        save(`${chart.id}.svg`, "image/svg+xml", svgFile(chart, currentTheme(), Math.max(FILE_WIDTH, this.width))),
      ),
      button("CSV", `Save the data of ${chart.title} as CSV`, () =>
        save(`${chart.id}.csv`, "text/csv", csvOf(chart.columns, rows)),
      ),
    ];
  }

  private toggleData(toggle: HTMLButtonElement): void {
    if (this.data) {
      this.data.remove();
      this.data = null;
    } else {
      this.data = new TableView(asTable(this.chart), "h4").root;
      this.root.append(this.data);
    }
    toggle.setAttribute("aria-expanded", String(this.data !== null));
  }

  // Whether there is another width to draw for.
  isOutgrown(): boolean {
    return this.room() !== this.width;
  }

  private room(): number {
    return Math.max(NARROWEST, Math.floor(this.place.clientWidth));
  }

  draw(): void {
    const width = this.room();
    this.width = width;
    const theme = currentTheme();
    this.place.replaceChildren(svgOf(this.chart, theme, width));
    const colors = seriesColors(this.chart, theme);
    this.legend.hidden = colors.length === 0 && this.chart.kind !== "heatmap";
    if (this.chart.kind === "heatmap") {
      const [least, most] = valueDomain(this.chart).map((x) =>
        formatTick(Number(x.toPrecision(3)), formatOf(this.chart, "value")),
      );
      const ramp = element("span", { class: "ramp", style: `background:linear-gradient(90deg,${theme.ramp})` });
      this.legend.replaceChildren(element("li", {}, `${titleOf(this.chart, "value")}: ${least}`, ramp, `${most}`));
      return;
    }
    this.legend.replaceChildren(
      ...colors.map(({ name, color }) =>
        element("li", {}, element("span", { class: "swatch", style: `background:${color}` }), name),
      ),
    );
  }
}
