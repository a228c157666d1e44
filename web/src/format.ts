// Numbers as people read them: the same in every table and chart, whatever the browser's language.
import type { Format, Value } from "./document.ts";

const MINUS = "\u2212";
const NOTHING = "\u2013";

function grouped(x: number, digits: number): string {
  const text = Math.abs(x).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return (x < 0 && /[1-9]/.test(text) ? MINUS : "") + text;
}

// As many digits as tell numbers of that size apart.
function plain(x: number): string {
  const size = Math.abs(x);
  if (Number.isInteger(x)) return grouped(x, 0);
  if (size >= 100) return grouped(x, 1);
  if (size >= 0.001) return grouped(x, 3);
  return x.toExponential(1).replace("-", MINUS);
}

export function formatNumber(x: number | null | undefined, format: Format): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return NOTHING;
  switch (format) {
    case "integer":
      return grouped(x, 0);
    case "percent":
      return `${grouped(100 * x, 1)}\u202f%`;
    case "signed":
      return (x > 0 ? "+" : "") + grouped(x, 2);
    default:
      return plain(x);
  }
}

export function formatValue(value: Value | undefined, format: Format): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return NOTHING;
  if (typeof value === "number") return formatNumber(value, format);
  return value.map((x) => formatNumber(x, "percent")).join(" ");
}

// On axes: short. 0.5 is 50 %, 20000 is 20k; between whole numbers nothing, where only they make sense.
export function formatTick(x: number, format: Format): string {
  if (format === "integer" && !Number.isInteger(x)) return "";
  if (format === "percent") return `${Number((100 * x).toPrecision(4))}\u202f%`.replace("-", MINUS);
  const size = Math.abs(x);
  const sign = x < 0 ? MINUS : "";
  if (size >= 1e6) return `${sign}${Number((size / 1e6).toPrecision(4))}M`;
  if (size >= 1e4) return `${sign}${Number((size / 1e3).toPrecision(4))}k`;
  return sign + Number(size.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });
}

// Addresses that a browser may open at a press. All others, such as javascript:, stay text.
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s<>"]+$/i.test(text) && URL.canParse(text);
}

export function clip(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}\u2026`;
}

export function countOf(n: number, noun: string): string {
  return `${grouped(n, 0)} ${noun}${n === 1 ? "" : "s"}`;
}
