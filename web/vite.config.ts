import { defineConfig, type Plugin } from "vite";

// Puts the script and the style sheet into the page: one file, nothing to load.
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("there is no index.html");
      let html = String(page.source);
      for (const [file, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          const code = part.code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
          html = replaceTag(
            html,
            /<script[^>]* src="[^"]*FILE"[^>]*><\/script>/,
            file,
            `<script type="module">${code}</script>`,
          );
        } else if (file.endsWith(".css")) {
          html = replaceTag(html, /<link[^>]* href="[^"]*FILE"[^>]*>/, file, `<style>${part.source}</style>`);
        } else {
          continue;
        }
        delete bundle[file];
      }
      page.source = html;
    },
  };
}

function replaceTag(html: string, pattern: RegExp, file: string, replacement: string): string {
  const tag = new RegExp(pattern.source.replace("FILE", file.replaceAll(".", "\\.")));
  if (!tag.test(html)) throw new Error(`index.html does not mention ${file}`);
  return html.replace(tag, () => replacement);
}

export default defineConfig({
  base: "./",
  build: { target: "es2022", modulePreload: false, cssCodeSplit: false, assetsInlineLimit: 0 },
  plugins: [oneFile()],
});
