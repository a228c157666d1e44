// Shows the document that lies in the page.
import "./style.css";
import { DocumentError, parseDocument } from "./document.ts";
import { Page } from "./page.ts";

const root = document.getElementById("app") as HTMLElement;
const page = new Page(root);
try {
  page.show(parseDocument(JSON.parse(document.getElementById("document")?.textContent ?? "null")));
} catch (error) {
  if (!(error instanceof DocumentError || error instanceof SyntaxError)) throw error;
  page.complain(`The data of this page cannot be read: ${error.message}.`);
}
