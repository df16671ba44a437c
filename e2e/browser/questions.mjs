// Ten questions, each from the overview to its answer, with script and without.
import { ask, done, launch, watched } from "./browser.mjs";

const browser = await launch();
const found = [];
for (const script of [true, false]) {
  const { context, page, problems } = await watched(browser, { viewport: { width: 1280, height: 900 }, javaScriptEnabled: script });
  for (const { text, steps, shown } of ask.questions) {
    problems.length = 0;
    try {
      await page.goto(`${ask.url}/p/kernels?days=150`);
      for (const [do_, selector, typed] of steps || []) {
        if (do_ === "type") await page.fill(selector, typed);
        else await Promise.all([page.waitForEvent("load"), page.locator(selector).first().click()]);
      }
      await page.locator(shown).first().waitFor({ state: "visible", timeout: 30_000 });
    } catch (e) {
      problems.push(`${page.url()}: ${e}`);
    }
    found.push({ name: `${text}${script ? "" : " without script"}`, problems: [...problems] });
  }
  await context.close();
}
await browser.close();
done(found);
