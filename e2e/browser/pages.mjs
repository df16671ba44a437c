// Every page: with script in the light and in the dark, on a phone, and without script. The
// ways of looking at it share one browser and take turns on it.
import { ask, check, done, launch, watched } from "./browser.mjs";
import { keys } from "./keys.mjs";
import { join } from "node:path";

const desktop = { width: 1280, height: 900 };

// Pages that have, between them, everything that others have.
const shared = ["overview", "series", "series-worst", "chart", "compare-runs", "settings", "run", "heat-numbers", "events", "cause", "fleet"];

// What can be wrong in one mode and right in another.
const inTheDark = ["color-contrast"];
const onAPhone = ["target-size", "scrollable-region-focusable", "meta-viewport", "heading-order"];

const found = [];
const note = (name, mode, problems, began) => found.push({ name: `${name}-${mode}`, problems: problems.splice(0), figures: { ms: Date.now() - began } });

const picture = async (page, { name }, mode) => {
  if (ask.pictures) await page.screenshot({ path: join(ask.pictures, `dashboard-${name}-${mode}.png`) });
};

// open goes to a page and tells what is wrong with any page.
const open = async (page, problems, { name, path, status, admin, key }, script) => {
  await page.setExtraHTTPHeaders(key ? { authorization: `Bearer ${key}` } : {});
  page.expected = status ? [status] : [];
  await page.context().clearCookies({ name: "pawl_session" });
  if (admin) await page.context().addCookies([{ name: "pawl_session", value: ask.admin, url: ask.url }]);
  const answer = await page.goto(ask.url + path, { waitUntil: "load" });
  if (answer.status() !== (status || 200)) problems.push(`status ${answer.status()}`);
  if (status) problems.splice(0, problems.length, ...problems.filter((p) => !p.startsWith("console: Failed to load resource")));
  const heading = await page.locator("h1").allInnerTexts();
  if (heading.length !== 1 || !heading[0].trim()) problems.push(`headings: ${JSON.stringify(heading)}`);
  if (!script) return;
  if (["series", "chart", "chart-commits"].includes(name)) await page.waitForSelector("#chart canvas");
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  if (wide > room) problems.push(`the page is ${wide} wide in ${room}`);
};

// One visit shows a page in the light, and then in the dark.
const litAndDark = async (browser) => {
  const { context, page, problems } = await watched(browser, { viewport: desktop, colorScheme: "light", reducedMotion: "reduce" });
  for (const one of ask.pages) {
    let began = Date.now();
    await open(page, problems, one, true);
    await check(page, problems);
    await picture(page, one, "light");
    note(one.name, "light", problems, began);
    if (!shared.includes(one.name) && !ask.pictures) continue;
    began = Date.now();
    await page.emulateMedia({ colorScheme: "dark" });
    await check(page, problems, inTheDark);
    await picture(page, one, "dark");
    note(one.name, "dark", problems, began);
    await page.emulateMedia({ colorScheme: "light" });
  }
  await context.close();
};

const phone = async (browser) => {
  const { context, page, problems } = await watched(browser, { viewport: { width: 360, height: 740 }, colorScheme: "light", isMobile: true, hasTouch: true, reducedMotion: "reduce" });
  for (const one of ask.pages) {
    const began = Date.now();
    await open(page, problems, one, true);
    if (shared.includes(one.name) || ask.pictures) await check(page, problems, onAPhone);
    await picture(page, one, "phone");
    if (ask.pictures) {
      await page.emulateMedia({ colorScheme: "dark" });
      await check(page, problems, inTheDark);
      await picture(page, one, "phone-dark");
      await page.emulateMedia({ colorScheme: "light" });
    }
    note(one.name, "phone", problems, began);
  }
  await context.close();
};

const withoutScript = async (browser) => {
  const { context, page, problems } = await watched(browser, { viewport: desktop, javaScriptEnabled: false });
  for (const one of ask.pages) {
    const began = Date.now();
    await open(page, problems, one, false);
    if (["series", "chart"].includes(one.name) && !(await page.locator("svg.wide").isVisible())) problems.push("no chart without script");
    note(one.name, "noscript", problems, began);
  }
  await context.close();
};

const browser = await launch();
const [, , , pressed] = await Promise.all([litAndDark(browser), phone(browser), withoutScript(browser), keys(browser)]);
await browser.close();
done([...found, ...pressed]);
