// A chart's columns as rows for Plot, and the colours of its series.
import { type Chart, columnOf, type Format, rowsOf } from "../document.ts";
import type { Theme } from "../theme.ts";

export type Row = Record<string, string | number | null>;

export function rowsForPlot(chart: Chart): Row[] {
  const rows: Row[] = [];
  for (let i = 0; i < rowsOf(chart); ++i) {
    const row: Row = {};
    for (const column of chart.columns) row[column.name] = (column.values[i] ?? null) as string | number | null;
    rows.push(row);
  }
  return rows;
}

// In the order in which they come.
export function levelsOf(chart: Chart, role: string): string[] {
  return [...new Set((columnOf(chart.columns, role)?.values ?? []).map(String))];
}

export function formatOf(chart: Chart, role: string): Format {
  return columnOf(chart.columns, role)?.format ?? "number";
}

export function titleOf(chart: Chart, role: string): string {
  return columnOf(chart.columns, role)?.title ?? "";
}

export function has(chart: Chart, role: string): boolean {
  return columnOf(chart.columns, role) !== undefined;
}

export interface SeriesColor {
  readonly name: string;
  readonly color: string;
}

// A series with a tone gets its colour; the others take turns.
export function seriesColors(chart: Chart, theme: Theme): SeriesColor[] {
  let turn = 0;
  return levelsOf(chart, "series").map((name) => {
    const tone = chart.tones?.[name];
    return { name, color: (tone ? theme.tones[tone] : theme.series[turn++ % theme.series.length]) as string };
  });
}

// The ends of a heat map's colours.
export function valueDomain(chart: Chart): readonly [number, number] {
  if (chart.value?.domain) return chart.value.domain;
  const values = columnOf(chart.columns, "value")?.values.filter((value) => typeof value === "number") ?? [];
  return values.length > 0 ? [Math.min(...values), Math.max(...values)] : [0, 1];
}
