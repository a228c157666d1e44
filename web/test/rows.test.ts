import { describe, expect, test } from "vitest";
import { parseDocument, type Table } from "../src/document.ts";
import { choiceColumns, chooseRows } from "../src/rows.ts";
import { fixture } from "./fixture.ts";

const table = parseDocument(fixture).sections[1]?.blocks[0] as Table;
const names = table.columns[0]?.values as string[];
const everything = { text: "", choices: {}, order: { column: "", descending: false } };

function chosen(wishes: Partial<typeof everything>): string[] {
  return chooseRows(table, { ...everything, ...wishes }).map((row) => names[row] as string);
}

describe("rows of a table", () => {
  test("come in the table's order unless one asks", () => {
    expect(chosen({})).toEqual(names);
  });

  test("sort by number, and what is missing comes last both ways", () => {
    expect(chosen({ order: { column: "labels", descending: true } })).toEqual([
      "w2",
      "w7",
      "w6",
      "w5",
      "w4",
      "w3",
      "w1",
      "w10",
    ]);
    expect(chosen({ order: { column: "labels", descending: false } })).toEqual([
      "w1",
      "w3",
      "w4",
      "w5",
      "w6",
      "w7",
      "w2",
      "w10",
    ]);
  });

  test("sort texts with numbers in them as people do", () => {
    expect(chosen({ order: { column: "worker", descending: false } })).toEqual([
      "w1",
      "w2",
      "w3",
      "w4",
      "w5",
      "w6",
      "w7",
      "w10",
    ]);
  });

  test("sort intervals by their middle", () => {
    expect(chosen({ order: { column: "quality", descending: true } })[0]).toBe("w1");
  });

  test("that are equal stay in the table's order", () => {
    expect(chosen({ order: { column: "mark", descending: true } })).toEqual([
      "w1",
      "w10",
      "w3",
      "w4",
      "w5",
      "w6",
      "w2",
      "w7",
    ]);
  });

  test("are found by a part of any text, in either case", () => {
    expect(chosen({ text: " W1 " })).toEqual(["w1", "w10"]);
    expect(chosen({ text: "rand" })).toEqual(["w2", "w7"]);
  });

  test("are chosen by an exact value as well", () => {
    expect(chosen({ text: "w7", choices: { mark: "random" } })).toEqual(["w7"]);
    expect(chosen({ choices: { mark: "" } })).toHaveLength(8);
  });

  test("can be chosen by columns with few different texts", () => {
    expect(choiceColumns(table).map((column) => column.name)).toEqual(["mark"]);
    expect(choiceColumns(table, 1)).toEqual([]);
  });
});
