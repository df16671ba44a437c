// A live run: without script the page asks to be loaded again; with script it changes as the
// run goes on, keeps who reads it where they are, and leads to the run in the end. What a
// stranger calls things stays text.
import { ask, check, done, launch, watched } from "./browser.mjs";
import { join } from "node:path";

const browser = await launch();
const found = [];
const tell = async (events) => {
  const answer = await fetch(`${ask.url}/v1/projects/kernels/live/${ask.run}`, {
    method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${ask.key}` },
    body: JSON.stringify({ schema: "pawl.live/v1", events }),
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
};
const [first, later, last] = [ask.story.slice(0, 5), ask.story.slice(5, -2), ask.story.slice(-2)];
await tell(first);
const path = `/p/kernels/live/${ask.run}`;

{
  const { context, page, problems } = await watched(browser, { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false });
  await page.goto(ask.url + path);
  const again = page.waitForResponse((r) => r.url().endsWith(path)); // the page asks for itself
  if (!(await page.locator("table.rows tbody tr").count())) problems.push("no rows without script");
  await again;
  await context.close();
  found.push({ name: "noscript", problems });
}

const { context, page, problems } = await watched(browser, { viewport: { width: 1280, height: 900 }, colorScheme: "light", reducedMotion: "reduce" });
await page.goto(ask.url + path);
await check(page, problems);
await page.focus("#live .scroll");
const began = Date.now();
await tell(later);
await page.waitForFunction(() => document.querySelector("[role=status]").textContent.includes("2 of 4 rounds"));
const ms = Date.now() - began;
if (!(await page.evaluate(() => document.activeElement.classList.contains("scroll")))) problems.push("the reader lost their place");
for (const name of ask.names) if (!(await page.locator("#live").innerText()).includes(name)) problems.push(`${JSON.stringify(name)} is not shown`);
if (await page.locator("#live :is(script, img, svg, iframe, b)").count()) problems.push("an element was made of data");
await check(page, problems);
await page.emulateMedia({ colorScheme: "dark" });
await check(page, problems, ["color-contrast"]);
await page.emulateMedia({ colorScheme: "light" });
if (ask.pictures) await page.screenshot({ path: join(ask.pictures, "dashboard-live-light.png") });
await page.setViewportSize({ width: 360, height: 740 });
const wide = await page.evaluate(() => document.documentElement.scrollWidth);
if (wide > 360) problems.push(`the page is ${wide} wide on a phone`);
await tell(last);
await page.waitForSelector(`#live a[href="/p/kernels/runs/${ask.report}"]`);
await check(page, problems);
found.push({ name: "live", problems, figures: { ms } });
await context.close();
await browser.close();
done(found);
