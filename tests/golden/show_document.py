#!/usr/bin/env python3
"""Prints a document (crowdfold report -o FILE.json) as text: its words, and of tables and charts the first rows, rounded."""
import json
import pathlib
import sys

ROWS = 4


def cell(column, row):
    value = column["values"][row]
    if "levels" in column:
        return column["levels"][value]
    if isinstance(value, list):
        return "/".join(f"{x:.3f}" for x in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def show_rows(columns, rows, indent):
    print(indent + " | ".join(column["name"] for column in columns))
    for row in rows:
        print(indent + " | ".join(cell(column, row) for column in columns))


def show_block(block):
    kind = block["type"]
    if kind == "prose":
        print("  " + block["text"])
    elif kind == "facts":
        print("  " + ", ".join(f"{fact['value']} {fact['label']}" for fact in block["facts"]))
    elif kind == "advice":
        for item in block["items"]:
            print(f"  [{item['tone']}] {item['text']} ({item.get('section', '-')})")
    else:
        count = len(block["columns"][0]["values"])
        print(f"  {block.get('kind', kind)} {block['id']}: {block['title']} ({count} rows)")
        show_rows(block["columns"], range(min(ROWS, count)), "    ")
        if "details" in block:
            details = block["details"]
            show_rows(details["columns"], range(details["offsets"][0], details["offsets"][1]), "      ")
        for name in ("x", "y", "value", "references", "tones", "left_out"):
            if name in block:
                print(f"    {name}: {json.dumps(block[name])}")


document = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
print(document["schema"], document["version"], "|", document["title"])
print(document["headline"])
print(document["subtitle"])
for section in document["sections"]:
    print(f"{section['id']}: {section['title']}")
    for shown in section["blocks"]:
        show_block(shown)
