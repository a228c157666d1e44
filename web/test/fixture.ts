// A small document with every kind of block and chart.
import type { Column, Format, Kind, Value } from "../src/document.ts";

export function column(name: string, format: Format, values: readonly Value[], extra: Partial<Column> = {}): Column {
  return { name, title: name.toUpperCase(), format, values, ...extra };
}

export function chart(kind: Kind, columns: readonly Column[], extra: object = {}) {
  return {
    type: "chart",
    id: `chart-${kind}`,
    title: `A chart of ${kind}`,
    description: "What it shows.",
    kind,
    columns,
    ...extra,
  };
}

export const workers = {
  type: "table",
  id: "workers",
  title: "Workers",
  description: "Who they are.",
  sorted_by: "labels",
  descending: true,
  columns: [
    column("worker", "text", ["w1", "w2", "w10", "w3", "w4", "w5", "w6", "w7"]),
    column("labels", "integer", [5, 1200, null, 7, 8, 9, 10, 11]),
    column("mark", "text", [0, 1, 0, 0, 0, 0, 0, 1], { levels: ["useful", "random"], tones: { random: "warning" } }),
    column(
      "quality",
      "interval",
      [0.9, 0.5, 0.7, 0.6, 0.8, 0.85, 0.65, 0.75].map((q) => [q - 0.1, q, q + 0.05] as const),
    ),
  ],
  details: {
    title: "What they said",
    offsets: [0, 2, 3, 3, 3, 3, 3, 3, 3],
    columns: [column("label", "text", ["cat", "dog", "fox"])],
  },
  left_out: { rows: 3, where: "elsewhere" },
  copied: "worker",
};

export const charts = [
  chart("bars", [column("y", "text", ["a", "b"]), column("x", "integer", [3, 4])]),
  chart("dots", [
    column("y", "text", ["a", "a", "b", "b"]),
    column("x", "percent", [0.1, 0.2, 0.3, 0.4]),
    column("series", "text", ["labels", "answers", "labels", "answers"]),
  ]),
  chart("histogram", [
    column("lower", "percent", [0, 0.5, 0.5]),
    column("upper", "percent", [0.5, 1, 1]),
    column("count", "integer", [10, 20, 5]),
    column("series", "text", ["right", "right", "wrong"]),
  ]),
  chart(
    "lines",
    [
      column("x", "integer", [1, 2, 3, 1, 2, 3]),
      column("y", "percent", [0.1, 0.2, 0.3, 0.3, 0.2, null]),
      column("lower", "percent", [0, 0.1, 0.2, 0.2, 0.1, null]),
      column("upper", "percent", [0.2, 0.3, 0.4, 0.4, 0.3, null]),
      column("series", "text", ["a", "a", "a", "b", "b", "b"]),
      column("facet", "text", ["one", "one", "one", "two", "two", "two"]),
    ],
    { references: [{ axis: "y", value: 0.25, label: "a guess" }], tones: { a: "bad" } },
  ),
  chart(
    "scatter",
    [
      column("x", "number", [0.01, 1, 100]),
      column("y", "percent", [0.7, 0.8, 0.9]),
      column("label", "text", ["mv", "ds", "ebcc"]),
      column("size", "integer", [1, 2, 3]),
    ],
    { x: { type: "log" }, y: { domain: [0, 1] }, references: [{ axis: "x", value: 1 }] },
  ),
  chart(
    "heatmap",
    [
      column("x", "text", ["a", "b", "a", "b"]),
      column("y", "text", ["a", "a", "b", "b"]),
      column("value", "percent", [0.9, 0.1, null, 0.8]),
    ],
    { value: { domain: [0, 1] } },
  ),
  chart(
    "intervals",
    [
      column("x", "integer", [1, 2, 3]),
      column("y", "percent", [0.9, 0.7, 0.5]),
      column("lower", "percent", [0.8, 0.6, 0.3]),
      column("upper", "percent", [0.95, 0.8, 0.7]),
      column("label", "text", ["w1", "w2", "w3"]),
    ],
    { left_out: { rows: 9, where: "between" } },
  ),
];

export const fixture = {
  schema: "crowdfold/document",
  version: 1,
  generator: "crowdfold 0",
  title: "Labels of <b>bold</b>",
  headline: "All is well</script><script>alert(1)</script>",
  subtitle: "A subtitle",
  footnote: "A footnote",
  sections: [
    {
      id: "next",
      title: "Next",
      blocks: [
        {
          type: "advice",
          items: [{ tone: "bad", text: "Worker <img src=x onerror=alert(1)> guesses", section: "people" }],
        },
        { type: "facts", facts: [{ value: "10", label: "tasks", note: "all" }] },
        { type: "prose", text: "Some words." },
      ],
    },
    { id: "people", title: "People", blocks: [workers] },
    { id: "charts", title: "Charts", blocks: charts },
  ],
};
