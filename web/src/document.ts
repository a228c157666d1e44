// The document that a page shows: ../document.schema.json, as types. parseDocument() checks what the page relies on.

export const SCHEMA = "crowdfold/document";
export const VERSION = 1;

export type Tone = "plain" | "accent" | "good" | "warning" | "bad" | "muted";
export type Tones = Readonly<Record<string, Tone>>;
export type Format = "text" | "integer" | "number" | "percent" | "signed" | "interval";
export type Triple = readonly [number, number, number];
export type Value = string | number | null | Triple;

export interface Column {
  readonly name: string;
  readonly title: string;
  readonly format: Format;
  readonly values: readonly Value[]; // texts as such: levels are resolved by parseDocument()
  readonly levels?: readonly string[];
  readonly tones?: Tones;
}

export interface LeftOut {
  readonly rows: number;
  readonly where: string;
}

export interface Details {
  readonly title: string;
  readonly offsets: readonly number[];
  readonly columns: readonly Column[];
}

export interface Table {
  readonly type: "table";
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly columns: readonly Column[];
  readonly sorted_by?: string;
  readonly descending?: boolean;
  readonly details?: Details;
  readonly left_out?: LeftOut;
  readonly copied?: string; // the column that people may copy, a value per line
}

export interface Scale {
  readonly type?: "linear" | "log";
  readonly domain?: readonly [number, number];
}

export interface Reference {
  readonly axis: "x" | "y" | "diagonal";
  readonly value?: number;
  readonly label?: string;
}

export const KINDS = ["bars", "dots", "histogram", "lines", "scatter", "heatmap", "intervals"] as const;
export type Kind = (typeof KINDS)[number];

export interface Chart {
  readonly type: "chart";
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly kind: Kind;
  readonly columns: readonly Column[];
  readonly x?: Scale;
  readonly y?: Scale;
  readonly value?: Scale;
  readonly references?: readonly Reference[];
  readonly tones?: Tones;
  readonly left_out?: LeftOut;
}

export interface Prose {
  readonly type: "prose";
  readonly text: string;
}

export interface Facts {
  readonly type: "facts";
  readonly facts: readonly { readonly value: string; readonly label: string; readonly note?: string }[];
}

export interface Advice {
  readonly type: "advice";
  readonly items: readonly { readonly tone: Tone; readonly text: string; readonly section?: string }[];
}

export type Block = Prose | Facts | Advice | Table | Chart;

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface DocumentData {
  readonly title: string;
  readonly headline: string;
  readonly subtitle?: string;
  readonly footnote?: string;
  readonly generator?: string;
  readonly sections: readonly Section[];
}

// What is wrong with a document, in words for its author.
export class DocumentError extends Error {}

// biome-ignore lint/suspicious/noExplicitAny: JSON is anything until it is checked
type Json = any;

function resolveLevels(column: Json, where: string): Column {
  if (!Array.isArray(column?.values)) throw new DocumentError(`${where}: column ${column?.name} has no values`);
  if (column.levels === undefined) return column;
  const values = column.values.map((place: number) => {
    const text = column.levels[place];
    if (text === undefined) throw new DocumentError(`${where}: column ${column.name} has no level ${place}`);
    return text;
  });
  return { ...column, values };
}

function parseColumns(columns: Json, where: string): Column[] {
  if (!Array.isArray(columns) || columns.length === 0) throw new DocumentError(`${where}: no columns`);
  const parsed = columns.map((column) => resolveLevels(column, where));
  const rows = parsed[0]?.values.length;
  for (const column of parsed) {
    if (column.values.length !== rows) {
      throw new DocumentError(`${where}: column ${column.name} has ${column.values.length} rows, not ${rows}`);
    }
  }
  return parsed;
}

function parseBlock(block: Json): Block {
  const where = `${block?.type} ${block?.id ?? ""}`.trim();
  switch (block?.type) {
    case "prose":
    case "facts":
    case "advice":
      return block;
    case "chart":
      if (!KINDS.includes(block.kind)) throw new DocumentError(`${where}: no kind of chart '${block.kind}'`);
      return { ...block, columns: parseColumns(block.columns, where) };
    case "table": {
      const columns = parseColumns(block.columns, where);
      if (block.details === undefined) return { ...block, columns };
      const details = { ...block.details, columns: parseColumns(block.details.columns, `${where}, details`) };
      if (details.offsets?.length !== (columns[0]?.values.length ?? 0) + 1) {
        throw new DocumentError(`${where}: details need an offset per row and one more`);
      }
      return { ...block, columns, details };
    }
    default:
      throw new DocumentError(`no type of block '${block?.type}'`);
  }
}

export function parseDocument(json: Json): DocumentData {
  if (json?.schema !== SCHEMA) throw new DocumentError(`this is not a document of schema ${SCHEMA}`);
  if (json.version !== VERSION) {
    throw new DocumentError(`the document has version ${json.version}; this page knows version ${VERSION}`);
  }
  if (!Array.isArray(json.sections)) throw new DocumentError("the document has no sections");
  const sections = json.sections.map((section: Json) => ({ ...section, blocks: section.blocks.map(parseBlock) }));
  return { ...json, sections };
}

export function columnOf(columns: readonly Column[], name: string): Column | undefined {
  return columns.find((column) => column.name === name);
}

export function rowsOf(table: { readonly columns: readonly Column[] }): number {
  return table.columns[0]?.values.length ?? 0;
}
