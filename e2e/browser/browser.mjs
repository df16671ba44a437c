// What the tests share: a browser whose every request, complaint and dialog is noted.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ask = JSON.parse(readFileSync(0, "utf8"));
const require = createRequire(join(ask.modules, "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const launch = () => chromium.launch({
  executablePath: ask.chromium,
  timeout: 120_000, // a busy machine is no reason to fail
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--hide-scrollbars", "--disable-lcd-text"],
});

// watched opens a page and notes what must not happen on it.
export const watched = async (browser, options) => {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(120_000); // likewise
  const page = await context.newPage();
  const problems = [];
  page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") problems.push(`console: ${m.text()}`); });
  page.on("pageerror", (e) => problems.push(`script: ${e.message}`));
  page.on("dialog", (d) => { problems.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => { if (!r.url().startsWith(ask.url + "/") && !r.url().startsWith("data:")) problems.push(`request to ${r.url()}`); });
  page.on("response", (r) => { if (r.status() >= 400 && !page.expected?.includes(r.status())) problems.push(`${r.status()} for ${r.url()}`); });
  return { context, page, problems };
};

// check runs axe on what is there now; only some of its rules, where the rest cannot
// differ from a check before.
export const check = async (page, problems, rules) => {
  await page.evaluate(axe);
  const runOnly = rules ? { type: "rule", values: rules } : { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
  const result = await page.evaluate((only) => globalThis.axe.run(document, { runOnly: only, resultTypes: ["violations"] }), runOnly);
  for (const v of result.violations) for (const n of v.nodes.slice(0, 3)) problems.push(`axe ${v.id}: ${n.target.join(" ")}: ${n.failureSummary?.replaceAll("\n", " ")}`);
};

export const done = (found) => process.stdout.write(JSON.stringify(found));
