// Pages as the program writes them, in Chromium. Every request and every complaint of a page is kept.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

const program = process.env.CROWDFOLD ?? "../build/crowdfold";
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export interface Opened {
  readonly page: Page;
  readonly requests: string[]; // but for the page itself
  readonly complaints: string[];
  readonly seconds: number; // until it could be used
  readonly busySeconds: number; // of them, those that the page itself computed
}

export class Pages {
  private constructor(
    private readonly browser: Browser,
    private readonly folder: string,
  ) {}

  static async start(): Promise<Pages> {
    const browser = await chromium.launch({ executablePath, args });
    return new Pages(browser, mkdtempSync(join(tmpdir(), "crowdfold-web.")));
  }

  async stop(): Promise<void> {
    await this.browser.close();
    rmSync(this.folder, { recursive: true });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  crowdfold(...words: string[]): string {
    return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  async open(name: string, options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await this.browser.newContext({ acceptDownloads: true, ...options });
    const page = await context.newPage();
    const url = pathToFileURL(this.path(name)).href;
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => {
      if (request.url() !== url && !request.url().startsWith("data:") && !request.url().startsWith("blob:")) {
        requests.push(request.url());
      }
    });
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("dialog", (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const began = performance.now();
    await page.goto(url);
    await page.waitForSelector("main h2");
    const seconds = (performance.now() - began) / 1000;
    const { metrics } = await session.send("Performance.getMetrics");
    const busySeconds = metrics.find((metric) => metric.name === "TaskDuration")?.value ?? seconds;
    await page.waitForSelector("#app[data-drawn]");
    return { page, requests, complaints, seconds, busySeconds };
  }
}
