// Pages full of payloads: nothing of them may become anything.
import { ask, done, launch, watched } from "./browser.mjs";

const browser = await launch();
const { page, problems } = await watched(browser, { viewport: { width: 1280, height: 900 } });
const found = [];
const look = () => {
  const bad = [];
  if (globalThis.__hit) bad.push("a payload ran");
  for (const e of document.querySelectorAll("*")) {
    const name = e.localName;
    const ours = new Set(["html", "head", "meta", "title", "link", "script", "body", "a", "header", "div", "form", "label", "input", "button", "nav", "main", "h1", "h2", "h3", "p", "span", "section", "ul", "ol", "li", "dl", "dt", "dd", "figure", "figcaption", "svg", "g", "path", "circle", "text", "rect", "table", "caption", "thead", "tbody", "tr", "th", "td", "time", "details", "summary", "footer", "dialog", "kbd", "code", "aside", "select", "option", "q", "b", "canvas", "symbol", "use", "defs", "pre"]);
    if (!ours.has(name)) bad.push(`<${name}>`);
    if (name === "script" && !(e.src.startsWith(`${location.origin}/assets/`) || e.type === "application/json")) bad.push(`<script src="${e.src}">`);
    if (name === "link" && !e.href.startsWith(`${location.origin}/assets/`)) bad.push(`<link href="${e.href}">`);
    for (const a of e.attributes) {
      if (a.name.startsWith("on") || a.name === "srcdoc" || a.name === "http-equiv" || a.name === "autofocus") bad.push(`<${name} ${a.name}>`);
      if (a.name === "style" && !e.closest(".uplot")) bad.push(`<${name} style>`);
      if ((a.name === "href" || a.name === "action" || a.name === "src") && !/^(\/|#|\?|https:\/\/forge\.example\/)/.test(a.value)) bad.push(`<${name} ${a.name}="${a.value}">`);
    }
  }
  return bad;
};

for (const path of ask.pages) {
  problems.length = 0;
  page.expected = [404, 400];
  await page.goto(ask.url + path, { waitUntil: "load" });
  await page.mouse.move(640, 450);
  await page.keyboard.press("Tab");
  const made = await page.evaluate(look);
  found.push({ name: path.slice(0, 60), problems: [...problems.filter((p) => !p.startsWith("console: Failed to load resource")), ...made] });
}
// The check itself: a payload that was let in is seen.
await page.evaluate(() => document.body.insertAdjacentHTML("beforeend", "<img alt='' src='x' onerror='1'>"));
found.push({ name: "control", problems: (await page.evaluate(look)).length ? [] : ["the check does not see an element made of data"] });
await browser.close();
done(found);
