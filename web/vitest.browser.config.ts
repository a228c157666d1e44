import { defineConfig } from "vitest/config";

// In a real browser; needs the program ($CROWDFOLD) and Chromium ($CHROMIUM, or /usr/bin/chromium).
export default defineConfig({
  test: { include: ["test/browser/*.test.ts"], testTimeout: 60_000, hookTimeout: 240_000, fileParallelism: false },
});
