// Which rows of a table are shown, and in which order. Pure: no document, no elements.
import { type Column, columnOf, rowsOf, type Table, type Value } from "./document.ts";

export interface Order {
  readonly column: string; // empty: as the table comes
  readonly descending: boolean;
}

export interface Wishes {
  readonly text: string; // a part of any text of the row
  readonly choices: Readonly<Record<string, string>>; // exact values by column
  readonly order: Order;
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function sortKey(value: Value | undefined): string | number | null {
  if (value === undefined || value === null) return null;
  return Array.isArray(value) ? (value[1] as number) : (value as string | number);
}

// Missing values come last, whatever the direction; equal ones stay in the table's order.
export function compareBy(column: Column, descending: boolean): (a: number, b: number) => number {
  const direction = descending ? -1 : 1;
  return (a, b) => {
    const left = sortKey(column.values[a]);
    const right = sortKey(column.values[b]);
    if (left === null || right === null) return Number(left === null) - Number(right === null) || a - b;
    const difference =
      typeof left === "number" && typeof right === "number" ? left - right : collator.compare(`${left}`, `${right}`);
    return direction * difference || a - b;
  };
}

function matcher(table: Table, wishes: Wishes): (row: number) => boolean {
  const wanted = wishes.text.trim().toLowerCase();
  const texts = table.columns.filter((column) => column.format === "text");
  const choices = Object.entries(wishes.choices)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => ({ values: columnOf(table.columns, name)?.values ?? [], value }));
  return (row) =>
    choices.every(({ values, value }) => values[row] === value) &&
    (wanted === "" || texts.some((column) => String(column.values[row]).toLowerCase().includes(wanted)));
}

export function chooseRows(table: Table, wishes: Wishes): number[] {
  const fits = matcher(table, wishes);
  const chosen: number[] = [];
  for (let row = 0; row < rowsOf(table); ++row) if (fits(row)) chosen.push(row);
  const by = columnOf(table.columns, wishes.order.column);
  return by ? chosen.sort(compareBy(by, wishes.order.descending)) : chosen;
}

// Columns with few different texts can be chosen from.
export function choiceColumns(table: Table, most = 12): Column[] {
  if (rowsOf(table) < 8) return [];
  return table.columns.filter(
    (column) => column.levels !== undefined && column.levels.length > 1 && column.levels.length <= most,
  );
}
