// What people take away: tables as CSV, charts as SVG.

import type { Column, Value } from "./document.ts";
import { element } from "./dom.ts";

// Quoted where it must be (RFC 4180). Text that a spreadsheet would take for a formula gets an apostrophe; numbers do not.
function field(value: Value | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=@\t\r]|^[+-](?![\d.]+$)/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// An interval is three columns.
function parts(column: Column): { name: string; at: (row: number) => Value | undefined }[] {
  if (column.format !== "interval") return [{ name: column.name, at: (row) => column.values[row] }];
  const part = (place: number) => (row: number) => {
    const triple = column.values[row];
    return Array.isArray(triple) ? triple[place] : null;
  };
  return [
    { name: `${column.name}_lower`, at: part(0) },
    { name: column.name, at: part(1) },
    { name: `${column.name}_upper`, at: part(2) },
  ];
}

// The given rows, in their order.
export function csvOf(columns: readonly Column[], rows: Iterable<number>): string {
  const fields = columns.flatMap(parts);
  const lines = [fields.map((f) => field(f.name)).join(",")];
  for (const row of rows) lines.push(fields.map((f) => field(f.at(row))).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

// A column of the given rows, a value per line.
export function linesOf(column: Column, rows: Iterable<number>): string {
  return Array.from(rows, (row) => `${column.values[row] ?? ""}\n`).join("");
}

// Pages opened from a disk may have no clipboard; then a selection is copied, as by hand.
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { "aria-hidden": "true", class: "hidden" });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
