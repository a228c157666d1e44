import { describe, expect, test } from "vitest";
import { clip, countOf, formatNumber, formatTick, formatValue, isWebAddress } from "../src/format.ts";
import { csvOf, linesOf } from "../src/save.ts";
import { column } from "./fixture.ts";

describe("numbers", () => {
  test.each([
    [1234567, "integer", "1,234,567"],
    [-3, "integer", "−3"],
    [0.9734, "percent", "97.3\u202f%"],
    [-0.0000001, "percent", "0.0\u202f%"],
    [1.5, "signed", "+1.50"],
    [-1.5, "signed", "−1.50"],
    [0.12345, "number", "0.123"],
    [1234.56, "number", "1,234.6"],
    [0.00001, "number", "1.0e−5"],
    [null, "number", "–"],
    [Number.NaN, "percent", "–"],
  ] as const)("%s as %s is %s", (x, format, text) => {
    expect(formatNumber(x, format)).toBe(text);
  });

  test("are short on axes", () => {
    expect(formatTick(0.5, "percent")).toBe("50\u202f%");
    expect(formatTick(20000, "integer")).toBe("20k");
    expect(formatTick(2.5e6, "integer")).toBe("2.5M");
    expect(formatTick(2.5, "integer")).toBe("");
    expect(formatTick(-0.25, "number")).toBe("−0.25");
  });

  test("go with nouns", () => {
    expect(countOf(1, "row")).toBe("1 row");
    expect(countOf(2000, "row")).toBe("2,000 rows");
  });
});

test("texts stay as they are, and are clipped where there is no room", () => {
  expect(formatValue("<script>", "text")).toBe("<script>");
  expect(clip("abcdef", 4)).toBe("abc…");
  expect(clip("abcd", 4)).toBe("abcd");
});

test("addresses of the web are told from all others", () => {
  for (const address of ["https://example.com/a?b=c#d", "HTTP://example.com", "http://localhost:8080/x.png"])
    expect(isWebAddress(address), address).toBe(true);
  for (const text of [
    "javascript:alert(1)",
    " https://example.com",
    "https://",
    "data:text/html,x",
    "file:///etc/passwd",
    "see https://example.com",
    "https://example.com/<b>",
    "//example.com",
  ])
    expect(isWebAddress(text), text).toBe(false);
});

test("a column's lines are those of the rows that are shown", () => {
  expect(linesOf(column("a", "text", ["x", "y", "z"]), [2, 0])).toBe("z\nx\n");
});

describe("CSV", () => {
  test("quotes what must be quoted, and leaves missing values empty", () => {
    const columns = [column("a", "text", ['say "hi", all', "two\nlines"]), column("b", "number", [0.1, null])];
    expect(csvOf(columns, [0, 1])).toBe('a,b\r\n"say ""hi"", all",0.1\r\n"two\nlines",\r\n');
  });

  test("gives intervals three columns", () => {
    expect(csvOf([column("q", "interval", [[0.1, 0.2, 0.3]])], [0])).toBe("q_lower,q,q_upper\r\n0.1,0.2,0.3\r\n");
  });

  test("keeps rows in the order asked for", () => {
    expect(csvOf([column("a", "integer", [1, 2, 3])], [2, 0])).toBe("a\r\n3\r\n1\r\n");
  });

  test("does not hand formulas to spreadsheets, but keeps numbers", () => {
    const columns = [column("a", "text", ["=1+1", "@x", "-1", "+x", "-"])];
    expect(csvOf(columns, [0, 1, 2, 3, 4])).toBe("a\r\n'=1+1\r\n'@x\r\n-1\r\n'+x\r\n'-\r\n");
  });
});
