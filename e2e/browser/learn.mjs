// The pages of the learning loop: in the light, in the dark, on a phone, without script and
// on paper; and the checklist while the session goes on.
import { ask, check, done, launch, watched } from "./browser.mjs";
import { join } from "node:path";

const found = [];
const note = (name, problems) => found.push({ name, problems: problems.splice(0) });
const picture = async (page, name, options) => { if (ask.pictures) await page.screenshot({ path: join(ask.pictures, `learn-${name}.png`), ...options }); };
const paths = { checklist: "/", guide: "/guide", "guide-plain": "/guide?plain", session: "/session" };

const fits = async (page, problems) => {
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  if (wide > room) problems.push(`the page is ${wide} wide in ${room}`);
  const headings = await page.locator("h1").count();
  if (headings !== 1) problems.push(`${headings} headings of the first rank`);
};

// The page of a file has no icon to ask for; what a server has no icon for is not looked at.
const quiet = (problems) => problems.splice(0, problems.length, ...problems.filter((p) => !p.includes("favicon.ico")));

const browser = await launch();
{
  const { context, page, problems } = await watched(browser, { viewport: { width: 1280, height: 1100 }, colorScheme: "light", reducedMotion: "reduce" });
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(ask.url + path, { waitUntil: "load" });
    await fits(page, problems);
    await check(page, problems);
    await page.emulateMedia({ colorScheme: "dark" });
    await check(page, problems, ["color-contrast"]);
    if (name === "session" || name === "guide") await picture(page, `${name}-dark`);
    await page.emulateMedia({ colorScheme: "light" });
    if (name !== "guide-plain") await picture(page, `${name}-light`);
    quiet(problems);
    note(name, problems);
  }
  await context.close();
}
{
  const { context, page, problems } = await watched(browser, { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(ask.url + path, { waitUntil: "load" });
    await fits(page, problems);
    await check(page, problems, ["target-size", "scrollable-region-focusable", "meta-viewport", "heading-order"]);
    if (name === "checklist") await picture(page, "checklist-phone");
    quiet(problems);
    note(`${name}-phone`, problems);
  }
  await context.close();
}
{ // One sheet, on both kinds of paper.
  const { context, page, problems } = await watched(browser, { viewport: { width: 1280, height: 900 } });
  for (const path of ["/guide", "/guide?plain"]) {
    await page.goto(ask.url + path, { waitUntil: "load" });
    for (const format of ["A4", "Letter"]) {
      const pdf = (await page.pdf({ format, printBackground: true, path: ask.pictures ? join(ask.pictures, `guide-${format}.pdf`) : undefined })).toString("latin1");
      const sheets = pdf.match(/\/Type\s*\/Page\b(?!s)/g)?.length;
      if (sheets !== 1) problems.push(`${path} takes ${sheets} sheets of ${format}`);
    }
  }
  quiet(problems);
  note("print", problems);
  await context.close();
}
{ // Without script the page shows what there is, and reload shows what is new.
  const { context, page, problems } = await watched(browser, { javaScriptEnabled: false });
  await page.goto(ask.url, { waitUntil: "load" });
  if ((await page.locator("li.gate").count()) < 15) problems.push("no gates without script");
  if (await page.locator("button").count()) problems.push("a button that does nothing");
  note("checklist-noscript", problems);
  await context.close();
}
{ // Live: a stop that happens is on the page without reload, and is told.
  const { context, page, problems } = await watched(browser, { viewport: { width: 1280, height: 1100 } });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(ask.url, { waitUntil: "load" });
  await page.waitForFunction(() => document.getElementById("told").textContent.includes("Live"));
  await page.locator("#copy-next-command").focus();
  const before = await page.locator("ol.timeline > li").count();
  await context.request.get(ask.url + "/happen");
  await page.waitForFunction((n) => document.querySelectorAll("ol.timeline > li").length > n, before);
  if (!(await page.locator(".now.stopped").count())) problems.push("the stop is not red");
  if ((await page.evaluate(() => document.activeElement.id)) !== "copy-next-command") problems.push("the focus is lost");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("told").textContent === "Copied.");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  if (copied !== (await page.locator("#next-command").innerText())) problems.push(`copied ${copied}`);
  await check(page, problems);
  note("checklist-live", problems);
  await context.close();
}
await browser.close();
done(found);
