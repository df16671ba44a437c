// How long a person waits for a chart: from a move of the pointer, or a zoom, until the
// frame after it was handed to the screen.
import { ask, done, launch, watched } from "./browser.mjs";

const browser = await launch();
const { page, problems } = await watched(browser, { viewport: { width: 1280, height: 900 } });
await page.goto(ask.url + ask.path, { waitUntil: "load" });
await page.waitForSelector("#chart canvas");
const figures = await page.evaluate(async (times) => {
  const over = document.querySelector("#chart .u-over");
  const box = over.getBoundingClientRect();
  const painted = () => new Promise((go) => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = go; c.port2.postMessage(0); }));
  const timed = async (name, act) => {
    performance.mark(`${name}-begin`);
    act();
    const worked = performance.now();
    await painted();
    const all = performance.measure(name, `${name}-begin`);
    return [all.duration, worked - all.startTime];
  };
  const at = (rows, column, share) => rows.map((r) => r[column]).sort((a, b) => a - b)[Math.floor(share * (rows.length - 1))];
  const hover = [], zoom = [];
  for (let i = 0; i < times; i++) {
    const x = box.left + box.width * (0.5 + 0.49 * Math.sin(i));
    hover.push(await timed("hover", () => over.dispatchEvent(new MouseEvent("mousemove", { clientX: x, clientY: box.top + 100, bubbles: true }))));
  }
  const press = (what) => document.querySelector(`[data-do=${what}]`).click();
  for (let i = 0; i < times / 4; i++) {
    for (const what of ["in", "forth", "out", "all"]) zoom.push(await timed("zoom", () => press(what)));
  }
  return {
    points: JSON.parse(document.getElementById("chart-data").textContent).columns.at.length,
    "hover p50 ms": at(hover, 0, 0.5), "hover p95 ms": at(hover, 0, 0.95), "hover work p95 ms": at(hover, 1, 0.95),
    "zoom p50 ms": at(zoom, 0, 0.5), "zoom p95 ms": at(zoom, 0, 0.95), "zoom work p95 ms": at(zoom, 1, 0.95),
  };
}, ask.times);
await browser.close();
done([{ name: "speed", problems, figures }]);
