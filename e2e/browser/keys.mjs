// What one does on a page: search, keys, light and dark, a chart by hand and by keyboard,
// a map by arrows.
import { ask, check, watched } from "./browser.mjs";

export const keys = async (browser) => {
  const { context, page, problems } = await watched(browser, { viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  const found = [];
  const step = async (name, do_) => {
    problems.length = 0;
    const want = (ok, text) => { if (!ok) problems.push(text); };
    try { await do_(want); } catch (e) { problems.push(String(e)); }
    found.push({ name, problems: [...problems] });
  };
  const text = (selector) => page.locator(selector).innerText();

  await step("keys and their list", async (want) => {
    await page.goto(`${ask.url}/p/kernels`);
    await page.keyboard.press("?");
    want(await page.locator("#keys").isVisible(), "? does not show the keys");
    await check(page, problems);
    await page.keyboard.press("Escape");
    want(!(await page.locator("#keys").isVisible()), "Escape does not close them");
    await page.keyboard.press("/");
    want(await page.evaluate(() => document.activeElement.id === "find"), "/ does not lead to the search");
    await page.keyboard.type("flash_fwd");
    await page.waitForSelector(".found a");
    want((await page.locator(".found a").count()) > 0, "no results appear while one types");
    await Promise.all([page.waitForURL(/search\?q=flash_fwd/), page.keyboard.press("Enter")]);
    want((await page.locator(".hits a").count()) > 0, "the search finds nothing");
    await page.goto(`${ask.url}/p/kernels`);
    // The two keys belong together for a second and a half, which a busy machine may miss.
    for (let n = 0; n < 20 && !/\/events$/.test(page.url()); n++) {
      await page.keyboard.press("g");
      await page.keyboard.press("e");
      await page.waitForURL(/\/events$/, { timeout: 3000 }).catch(() => {});
    }
    want(/\/events$/.test(page.url()), "g e does not lead to the events");
    await page.goto(`${ask.url}/p/kernels/series`);
    const focused = () => page.evaluate(() => document.activeElement.getAttribute("href"));
    const row = (n) => page.locator("table.rows tbody tr").nth(n).locator("th a").getAttribute("href");
    await page.keyboard.press("j");
    want((await focused()) === (await row(0)), "j does not lead to the first row");
    await page.keyboard.press("j");
    want((await focused()) === (await row(1)), "j does not lead to the next row");
    await page.keyboard.press("k");
    want((await focused()) === (await row(0)), "k does not lead back");
    await Promise.all([page.waitForURL(/\/series\/[0-9]+$/), page.keyboard.press("Enter")]);
  });

  await step("series picked in the list, in one chart", async (want) => {
    await page.goto(`${ask.url}/p/kernels/series?text=matmul`);
    for (const n of [0, 1, 2]) await page.locator("input[name=series]").nth(n).check();
    await Promise.all([page.waitForURL(/\/chart\?series=/), page.click("text=Chart together")]);
    await page.waitForSelector("#chart canvas");
    want((await page.locator(".swatch").count()) === 3, "the chart does not have the three series");
    await page.focus("#chart");
    await page.keyboard.press("End");
    want((await page.locator("td.cursor").allInnerTexts()).every((v) => v !== ""), "End does not show the last values");
    await Promise.all([page.waitForURL(/by=commit/), page.click("text=by commit")]);
    await page.waitForSelector("#chart canvas");
    await Promise.all([page.waitForURL((u) => u.searchParams.get("series").split(",").length === 2), page.locator("text=Remove").first().click()]);
    want((await page.locator(".swatch").count()) === 2, "a line cannot be removed");
  });

  await step("from a flag to its change", async (want) => {
    await page.goto(`${ask.url}${ask.flagged}`);
    await page.waitForSelector("#chart canvas");
    await Promise.all([page.waitForURL(/#event-[0-9]+$/), page.locator(".flag-link").first().click()]);
    want(await page.locator("tr:target").isVisible(), "a click on a flag does not open its change");
  });

  await step("skip link and focus", async (want) => {
    await page.goto(`${ask.url}/p/kernels`);
    await page.keyboard.press("Tab");
    want(await page.evaluate(() => document.activeElement.className === "skip" && document.activeElement.getBoundingClientRect().left >= 0), "the first Tab does not show the skip link");
    await page.keyboard.press("Tab");
    want(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none"), "focus is not seen");
  });

  await step("light and dark by choice", async (want) => {
    await page.goto(`${ask.url}/p/kernels`);
    const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.click("#theme");
    const after = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    want(before !== after, "the button changes nothing");
    await page.reload();
    want((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === after, "the choice is not kept");
    await check(page, problems);
    await page.click("#theme");
  });

  const shown = () => text("#point");
  await step("a chart by keyboard", async (want) => {
    await page.goto(`${ask.url}${ask.series}`);
    await page.waitForSelector("#chart canvas");
    await page.focus("#chart");
    await page.keyboard.press("End");
    const last = await shown();
    await page.keyboard.press("ArrowLeft");
    const before = await shown();
    want(last !== before, `ArrowLeft shows the same point: ${last}`);
    await page.keyboard.press("Enter");
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    want((await page.locator("#pins a").count()) === 1, "two pins give no comparison");
    await page.keyboard.press("+");
    await page.waitForFunction(() => new URL(location.href).searchParams.has("from"));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => !new URL(location.href).searchParams.has("from"));
    want((await page.locator("#pins a").count()) === 0, "Escape does not unpin");
  });

  await step("a chart by hand", async (want) => {
    await page.goto(`${ask.url}${ask.series}`);
    await page.waitForSelector("#chart canvas");
    const box = await page.locator("#chart .u-over").boundingBox();
    const at = (share) => [box.x + box.width * share, box.y + box.height / 2];
    await page.mouse.move(...at(0.2));
    const one = await shown();
    await page.mouse.move(...at(0.8));
    want(one !== (await shown()), "hovering shows the same point everywhere");
    await page.mouse.click(...at(0.2));
    await page.mouse.click(...at(0.8));
    const href = await page.locator("#pins a").getAttribute("href");
    await page.mouse.move(...at(0.4));
    await page.mouse.down();
    await page.mouse.move(...at(0.6), { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() => new URL(location.href).searchParams.has("from"));
    const permalink = page.url();
    await page.goto(permalink);
    await page.waitForSelector("#chart canvas");
    await page.goto(ask.url + href);
    want((await text("h1")).startsWith("Two points"), `the comparison is ${await text("h1")}`);
    await check(page, problems);
  });

  await step("a map by arrows", async (want) => {
    await page.goto(`${ask.url}/p/kernels/suites/attention`);
    await page.locator("#heat a[tabindex='0']").focus();
    await page.keyboard.press("ArrowLeft");
    const one = await text("#cell");
    await page.keyboard.press("ArrowDown");
    want(one !== (await text("#cell")) && one !== "", "arrows do not lead from cell to cell");
  });

  await context.close();
  return found;
};
