// One function per kind of chart: its marks and scales. What they share is in data.ts.
import * as Plot from "@observablehq/plot";
import type { Chart, Kind } from "../document.ts";
import { clip, formatNumber, formatTick } from "../format.ts";
import type { Theme } from "../theme.ts";
import { formatOf, has, levelsOf, type Row, rowsForPlot, titleOf, valueDomain } from "./data.ts";

export interface Canvas {
  readonly chart: Chart;
  readonly theme: Theme;
  readonly width: number;
}

const CHARACTER = 6.6; // the width of one, about, in pixels
const SQUARE = 520; // the largest width of a chart with equal axes
const ROW = 26; // the height of a category

// Room for categories at the left, and how much of their text fits.
function categoryRoom(canvas: Canvas, role: string) {
  const longest = Math.max(4, ...levelsOf(canvas.chart, role).map((name) => name.length));
  const characters = Math.min(longest, Math.max(6, Math.floor((canvas.width * 0.35) / CHARACTER)));
  return { margin: Math.ceil(characters * CHARACTER) + 16, text: (name: string) => clip(name, characters) };
}

function numeric(canvas: Canvas, role: "x" | "y", column: string = role): Plot.ScaleOptions {
  const { chart } = canvas;
  const scale = chart[role];
  return {
    label: titleOf(chart, column),
    tickFormat: (x: number) => formatTick(x, formatOf(chart, column)),
    type: scale?.type ?? "linear",
    ...(scale?.domain ? { domain: [...scale.domain] } : {}),
    ...(scale?.type === "log"
      ? { ticks: 4 }
      : { ticks: role === "x" ? Math.max(2, Math.min(8, canvas.width / 90)) : 5 }),
  };
}

// Rows and columns of a matrix of the same names come in the same order.
function columnsOfMatrix(chart: Chart): string[] {
  const columns = levelsOf(chart, "x");
  const rows = levelsOf(chart, "y");
  const known = new Set(columns);
  return rows.length === columns.length && rows.every((name) => known.has(name)) ? rows : columns;
}

// What is told about a mark under the pointer.
function told(chart: Chart): (row: Row) => string {
  return (row) =>
    chart.columns
      .map((column) => {
        const value = row[column.name];
        return `${column.title}: ${typeof value === "string" ? value : formatNumber(value, column.format)}`;
      })
      .join("\n");
}

function paint(chart: Chart, theme: Theme): string {
  return has(chart, "series") ? "series" : theme.tones.accent;
}

function byCategory(canvas: Canvas, marks: (y: Plot.ChannelValueSpec) => Plot.Markish[]): Plot.PlotOptions {
  const room = categoryRoom(canvas, "y");
  const categories = levelsOf(canvas.chart, "y");
  return {
    height: categories.length * ROW + 50,
    marginTop: 8,
    marginLeft: room.margin,
    x: { ...numeric(canvas, "x"), grid: true, zero: canvas.chart.x?.type !== "log" && !canvas.chart.x?.domain },
    y: { type: "band", domain: categories, label: null, tickFormat: room.text, tickSize: 0 },
    marks: marks("y"),
  };
}

function bars(canvas: Canvas): Plot.PlotOptions {
  const { chart, theme } = canvas;
  const rows = rowsForPlot(chart);
  return byCategory(canvas, (y) => [
    Plot.barX(rows, {
      x: "x",
      y,
      fill: paint(chart, theme),
      title: told(chart),
      tip: true,
      insetTop: 3,
      insetBottom: 3,
    }),
  ]);
}

// Several series of one category are joined, so that their distance is seen.
function dots(canvas: Canvas): Plot.PlotOptions {
  const { chart, theme } = canvas;
  const rows = rowsForPlot(chart);
  return byCategory(canvas, (y) => [
    Plot.ruleY(
      rows,
      Plot.groupY({ x1: "min", x2: "max" }, { x1: "x", x2: "x", y, stroke: theme.faint, strokeOpacity: 0.6 }),
    ),
    Plot.dot(rows, { x: "x", y, fill: paint(chart, theme), r: 5, title: told(chart), tip: true }),
  ]);
}

function histogram(canvas: Canvas): Plot.PlotOptions {
  const { chart, theme } = canvas;
  return {
    height: 240,
    x: numeric(canvas, "x", "lower"),
    y: { ...numeric(canvas, "y", "count"), grid: true },
    marks: [
      Plot.rectY(rowsForPlot(chart), {
        x1: "lower",
        x2: "upper",
        y: "count",
        fill: paint(chart, theme),
        insetLeft: 1,
        insetRight: 1,
        title: told(chart),
        tip: true,
      }),
      Plot.ruleY([0], { stroke: theme.faint }),
    ],
  };
}

// Facets in rows and columns, as many beside each other as fit.
function facets(canvas: Canvas, rows: Row[]) {
  if (!has(canvas.chart, "facet")) return { channels: {}, options: {}, titles: [] as Plot.Markish[], lines: 1 };
  const names = levelsOf(canvas.chart, "facet");
  const beside = Math.max(1, Math.min(names.length, Math.floor(canvas.width / 190)));
  const place = (name: string) => names.indexOf(name);
  const fx = (row: Row) => place(String(row.facet)) % beside;
  const fy = (row: Row) => Math.floor(place(String(row.facet)) / beside);
  return {
    lines: Math.ceil(names.length / beside),
    channels: { fx, fy },
    options: { fx: { axis: null, padding: 0.12 }, fy: { axis: null, padding: 0.25 } } as Plot.PlotOptions,
    titles: [
      Plot.text(names, {
        fx: (name: string) => place(name) % beside,
        fy: (name: string) => Math.floor(place(name) / beside),
        text: (name: string) => name,
        frameAnchor: "top-left",
        dy: -14,
        fontWeight: "600",
      }),
    ],
    rows,
  };
}

function lines(canvas: Canvas): Plot.PlotOptions {
  const { chart, theme } = canvas;
  const rows = rowsForPlot(chart);
  const facet = facets(canvas, rows);
  const color = paint(chart, theme);
  const z = has(chart, "series") ? { z: "series" } : {};
  const band = has(chart, "lower") && has(chart, "upper");
  const few = rows.length <= 200;
  return {
    height: facet.lines === 1 ? 260 : facet.lines * 170,
    ...facet.options,
    marginTop: has(chart, "facet") ? 44 : 30,
    x: numeric(canvas, "x"),
    y: { ...numeric(canvas, "y"), grid: true },
    marks: [
      band
        ? Plot.areaY(rows, {
            x: "x",
            y1: "lower",
            y2: "upper",
            fill: color,
            fillOpacity: 0.16,
            ...z,
            ...facet.channels,
          })
        : null,
      Plot.lineY(rows, { x: "x", y: "y", stroke: color, strokeWidth: 1.8, ...z, ...facet.channels }),
      Plot.dot(rows, {
        x: "x",
        y: "y",
        fill: color,
        r: few ? 3 : 0.01,
        title: told(chart),
        tip: true,
        ...facet.channels,
      }),
      ...facet.titles,
    ],
  };
}

function scatter(canvas: Canvas): Plot.PlotOptions {
  const { chart, theme } = canvas;
  const rows = rowsForPlot(chart);
  const facet = facets(canvas, rows);
  // The same scale both ways: a diagonal is one.
  const square = String(chart.x?.domain) === String(chart.y?.domain) && chart.x?.domain !== undefined;
  const labelled = has(chart, "label") && rows.length <= 40 && !has(chart, "facet");
  return {
    ...(square ? { width: Math.min(canvas.width, SQUARE) } : {}),
    height: facet.lines > 1 ? facet.lines * 190 : square ? Math.min(canvas.width, SQUARE) * 0.9 : 320,
    ...facet.options,
    marginTop: has(chart, "facet") ? 44 : 30,
    marginRight: labelled ? 60 : 16,
    r: { range: [1.5, 8] },
    x: { ...numeric(canvas, "x"), grid: true },
    y: { ...numeric(canvas, "y"), grid: true },
    marks: [
      Plot.dot(rows, {
        x: "x",
        y: "y",
        fill: paint(chart, theme),
        fillOpacity: 0.6,
        ...(has(chart, "size") ? { r: "size" } : { r: 4 }),
        title: told(chart),
        tip: true,
        ...facet.channels,
      }),
      labelled
        ? Plot.text(rows, {
            x: "x",
            y: "y",
            text: (row: Row) => clip(String(row.label), 16),
            dx: 8,
            textAnchor: "start",
          })
        : null,
      ...facet.titles,
    ],
  };
}

function heatmap(canvas: Canvas): Plot.PlotOptions {
  const { chart, theme } = canvas;
  const rows = rowsForPlot(chart);
  const facet = facets(canvas, rows);
  const room = categoryRoom(canvas, "y");
  const columns = columnsOfMatrix(chart);
  const lengthOfLabels = Math.min(14, Math.max(1, ...columns.map((name) => name.length)));
  const domain = valueDomain(chart);
  const side = (canvas.width - room.margin) / columns.length;
  const upright = side > lengthOfLabels * CHARACTER;
  const middle = (domain[0] + domain[1]) / 2;
  const height = Math.min(ROW * 1.3, Math.max(16, side * 0.7)) * levelsOf(chart, "y").length;
  const written = side >= 38 && !has(chart, "facet");
  return {
    ...facet.options,
    height: facet.lines * (height + 30) + (upright ? 50 : lengthOfLabels * 6 + 50),
    marginLeft: room.margin,
    marginTop: has(chart, "facet") ? 44 : 30,
    marginBottom: upright ? 44 : lengthOfLabels * 6 + 30,
    x: {
      type: "band",
      domain: columns,
      label: titleOf(chart, "x"),
      labelArrow: "none",
      tickFormat: (name: string) => clip(name, 14),
      tickSize: 0,
      tickRotate: upright ? 0 : -60,
    },
    y: {
      type: "band",
      domain: levelsOf(chart, "y"),
      label: titleOf(chart, "y"),
      labelAnchor: "top",
      labelArrow: "none",
      tickFormat: room.text,
      tickSize: 0,
    },
    color: {
      type: "linear",
      domain: [...domain],
      range: [...theme.ramp],
      interpolate: "rgb",
      clamp: true,
      unknown: theme.background,
    },
    marks: [
      Plot.cell(rows, {
        x: "x",
        y: "y",
        fill: "value",
        inset: 0.5,
        rx: 2,
        title: told(chart),
        tip: true,
        ...facet.channels,
      }),
      written
        ? Plot.text(rows, {
            x: "x",
            y: "y",
            text: (row: Row) => (row.value === null ? "" : formatNumber(row.value as number, formatOf(chart, "value"))),
            fill: (row: Row) => ((row.value as number) > middle ? theme.background : theme.text),
          })
        : null,
      ...facet.titles,
    ],
  };
}

function intervals(canvas: Canvas): Plot.PlotOptions {
  const { chart, theme } = canvas;
  const rows = rowsForPlot(chart);
  const color = paint(chart, theme);
  const thickness = Math.max(1, Math.min(6, (canvas.width / Math.max(1, rows.length)) * 0.55));
  return {
    height: 300,
    x: { ...numeric(canvas, "x"), insetLeft: 6, insetRight: 6 },
    y: { ...numeric(canvas, "y"), grid: true },
    marks: [
      Plot.ruleX(rows, {
        x: "x",
        y1: "lower",
        y2: "upper",
        stroke: color,
        strokeWidth: thickness,
        strokeOpacity: 0.45,
      }),
      Plot.dot(rows, { x: "x", y: "y", fill: color, r: Math.max(1.5, thickness * 0.7), title: told(chart), tip: "x" }),
    ],
  };
}

export const draw: Readonly<Record<Kind, (canvas: Canvas) => Plot.PlotOptions>> = {
  bars,
  dots,
  histogram,
  lines,
  scatter,
  heatmap,
  intervals,
};
