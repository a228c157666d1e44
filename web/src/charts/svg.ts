// A chart as an SVG: on the page, and as a file with title and legend of its own.
import * as Plot from "@observablehq/plot";
import type { Chart, Reference } from "../document.ts";
import { formatTick } from "../format.ts";
import type { Theme } from "../theme.ts";
import { formatOf, type SeriesColor, seriesColors, titleOf, valueDomain } from "./data.ts";
import { draw } from "./kinds.ts";

const NAMESPACE = "http://www.w3.org/2000/svg";
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

function referenceMarks(chart: Chart, reference: Reference, theme: Theme): Plot.Markish[] {
  const look = { stroke: theme.text, strokeDasharray: "4 3", strokeOpacity: 0.7 };
  const words = { fill: theme.text, stroke: theme.background, strokeWidth: 4 };
  const at = reference.value ?? 0;
  const [from, to] = chart.x?.domain ?? [at, at];
  const side = at > (from + to) / 2 ? -1 : 1; // where there is room for words
  switch (reference.axis) {
    case "diagonal":
      return [
        Plot.line(
          [
            [0, 0],
            [1, 1],
          ],
          { ...look, clip: true },
        ),
      ];
    case "x":
      return [
        Plot.ruleX([at], look),
        reference.label
          ? Plot.text([at], {
              x: (d) => d,
              text: () => reference.label,
              frameAnchor: "top",
              textAnchor: side < 0 ? "end" : "start",
              dx: 4 * side,
              ...words,
            })
          : null,
      ];
    case "y":
      return [
        Plot.ruleY([at], look),
        reference.label
          ? Plot.text([at], {
              y: (d) => d,
              text: () => reference.label,
              frameAnchor: "right",
              textAnchor: "end",
              dy: -7,
              ...words,
            })
          : null,
      ];
  }
}

export function svgOf(chart: Chart, theme: Theme, width: number): SVGSVGElement {
  const options = draw[chart.kind]({ chart, theme, width });
  const colors = seriesColors(chart, theme);
  const color =
    options.color ??
    (colors.length > 0 ? { domain: colors.map((c) => c.name), range: colors.map((c) => c.color) } : {});
  const references = (chart.references ?? []).flatMap((reference) => referenceMarks(chart, reference, theme));
  const svg = Plot.plot({
    marginTop: 30,
    marginRight: 16,
    marginLeft: 48,
    marginBottom: 40,
    width,
    ...options,
    color: { ...color, legend: false },
    marks: [...(options.marks ?? []), ...references],
    style: { background: "transparent", color: theme.text, fontFamily: FONT, fontSize: "12px", overflow: "visible" },
    ariaLabel: chart.title,
    ariaDescription: chart.description,
    figure: false,
  }) as SVGSVGElement;
  svg.setAttribute("role", "img");
  // Tips are drawn in the page's colours.
  svg.style.setProperty("--plot-background", theme.background);
  return svg;
}

function make(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

function legendMarks(colors: readonly SeriesColor[], theme: Theme, y: number): SVGElement[] {
  let x = 12;
  return colors.flatMap(({ name, color }) => {
    const circle = make("circle", { cx: x + 5, cy: y - 4, r: 5, fill: color });
    const text = make("text", { x: x + 15, y, fill: theme.text }, name);
    x += 30 + name.length * 7;
    return [circle, text];
  });
}

// The colours of a heat map, from its least to its largest value.
function rampMarks(chart: Chart, theme: Theme, y: number): SVGElement[] {
  const [least, most] = valueDomain(chart).map((x) => formatTick(Number(x.toPrecision(3)), formatOf(chart, "value")));
  const gradient = make("linearGradient", { id: "ramp" });
  gradient.append(...theme.ramp.map((color, place) => make("stop", { offset: place / 2, "stop-color": color })));
  const words = `${titleOf(chart, "value")}: ${least}`;
  const x = 20 + words.length * 7;
  return [
    gradient,
    make("text", { x: 12, y, fill: theme.text }, words),
    make("rect", { x, y: y - 10, width: 110, height: 11, rx: 2, fill: "url(#ramp)" }),
    make("text", { x: x + 118, y, fill: theme.text }, `${most}`),
  ];
}

// A drawing that stands alone: title, legend and background are part of it.
export function svgFile(chart: Chart, theme: Theme, width: number): string {
  const plot = svgOf(chart, theme, width);
  const height = Number(plot.getAttribute("height"));
  const colors = seriesColors(chart, theme);
  const legend = chart.kind === "heatmap" ? rampMarks(chart, theme, 46) : legendMarks(colors, theme, 46);
  const top = legend.length > 0 ? 56 : 36;
  const file = make("svg", {
    xmlns: NAMESPACE,
    width,
    height: height + top,
    viewBox: `0 0 ${width} ${height + top}`,
    "font-family": FONT,
    "font-size": 13,
  });
  for (const tip of plot.querySelectorAll("[aria-label=tip]")) tip.remove(); // nobody points at a file
  plot.setAttribute("y", String(top));
  plot.setAttribute("fill", theme.text);
  file.append(
    make("title", {}, chart.title),
    make("desc", {}, chart.description),
    make("rect", { width: "100%", height: "100%", fill: theme.background }),
    make("text", { x: 12, y: 22, "font-size": 15, "font-weight": 600, fill: theme.text }, chart.title),
    ...legend,
    plot,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(file)}\n`;
}
