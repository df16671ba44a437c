// A history that was thinned out is asked for again when one looks closer.
import { ask, done, launch, watched } from "./browser.mjs";

const browser = await launch();
const { page, problems } = await watched(browser, { viewport: { width: 1280, height: 900 } });
await page.goto(ask.url + ask.path, { waitUntil: "load" });
await page.waitForSelector("#chart canvas");
const first = await page.evaluate(() => JSON.parse(document.getElementById("chart-data").textContent).columns.at.length);
const [answer] = await Promise.all([page.waitForResponse((r) => r.url().includes("/points?")), page.click("[data-do=in]")]);
const closer = (await answer.json()).items;
const query = new URL(answer.url()).searchParams;
const [from, to] = [Date.parse(query.get("from")), Date.parse(query.get("to"))];
if (closer.length === 0) problems.push("no point came");
if (closer.some((p) => Date.parse(p.at) < from || Date.parse(p.at) > to)) problems.push("a point from outside came");
await browser.close();
done([{ name: "closer", problems, figures: { first, closer: closer.length } }]);
