import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { DocumentError, KINDS, parseDocument, type Table } from "../src/document.ts";
import { charts, fixture, workers } from "./fixture.ts";

const schema = JSON.parse(readFileSync(new URL("../document.schema.json", import.meta.url), "utf8"));
const valid = new Ajv({ strict: false }).compile(schema);

function withBlock(block: object): object {
  return { ...fixture, sections: [{ id: "s", title: "S", blocks: [block] }] };
}

describe("a document", () => {
  test("with every kind of block and chart fits the schema", () => {
    expect(charts.map((chart) => chart.kind).sort()).toEqual([...KINDS].sort());
    expect(valid(fixture), JSON.stringify(valid.errors)).toBe(true);
  });

  test("has its levels resolved", () => {
    const table = parseDocument(fixture).sections[1]?.blocks[0] as Table;
    expect(table.columns[2]?.values.slice(0, 3)).toEqual(["useful", "random", "useful"]);
  });

  test.each([
    ["another schema", { ...fixture, schema: "x" }, "not a document of schema"],
    ["a newer version", { ...fixture, version: 2 }, "version 2; this page knows version 1"],
    ["no sections", { ...fixture, sections: undefined }, "no sections"],
    ["an unknown block", withBlock({ type: "film" }), "no type of block 'film'"],
    ["an unknown kind", withBlock({ ...charts[0], kind: "pie" }), "no kind of chart 'pie'"],
    ["no columns", withBlock({ ...workers, columns: [] }), "no columns"],
    [
      "columns of different length",
      withBlock({ ...workers, columns: [workers.columns[0], { ...workers.columns[1], values: [1] }] }),
      "has 1 rows, not 8",
    ],
    [
      "a place without a level",
      withBlock({ ...workers, columns: [{ ...workers.columns[2], values: [7] }], details: undefined }),
      "has no level 7",
    ],
    [
      "details that do not fit",
      withBlock({ ...workers, details: { ...workers.details, offsets: [0] } }),
      "offset per row",
    ],
    ["nothing", null, "not a document"],
  ])("with %s is refused in words", (_what, json, words) => {
    expect(() => parseDocument(json)).toThrow(DocumentError);
    expect(() => parseDocument(json)).toThrow(words as string);
  });
});
