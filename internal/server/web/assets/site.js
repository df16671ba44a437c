// Pages work without this. It adds a switch for dark mode, keyboard shortcuts, and their list.
const root = document.documentElement;
const byId = (id) => document.getElementById(id);

const theme = byId("theme");
const darkLiked = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkLiked.matches);
const showTheme = () => theme.setAttribute("aria-pressed", String(isDark()));
const turn = () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `pawl_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax${secure}`;
  showTheme();
  dispatchEvent(new Event("pawl-theme"));
};
theme.hidden = false;
theme.addEventListener("click", turn);
darkLiked.addEventListener("change", () => { showTheme(); dispatchEvent(new Event("pawl-theme")); });
showTheme();

const keys = byId("keys");
byId("keys-open").hidden = false;
byId("keys-open").addEventListener("click", () => keys.showModal());

// On a narrow screen the search is in the menu.
const search = () => {
  const find = byId("find");
  if (!find.checkVisibility()) byId("nav").showPopover();
  find.focus();
};

// j and k go from row to row: each row has a link, which Enter opens.
const step = (by) => {
  const rows = [...document.querySelectorAll("main :is(ol.moved, ul.hits, ul.cards) > li, main table.rows tbody tr")].map((row) => row.querySelector("a")).filter((a) => a?.checkVisibility());
  const now = rows.findIndex((a) => a.closest("li, tr").contains(document.activeElement));
  const to = rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : now + by];
  to?.focus();
  to?.scrollIntoView({ block: "nearest" });
};

let going = 0;
addEventListener("keydown", (e) => {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.target.closest("input, select, textarea") || keys.open) return;
  if (e.key === "?") { keys.showModal(); e.preventDefault(); return; }
  if (e.key === "/") { search(); e.preventDefault(); return; }
  if (e.key === "t") { turn(); return; }
  if (e.key === "j" || e.key === "k") { step(e.key === "j" ? 1 : -1); return; }
  if (e.key === "g") { going = e.timeStamp; return; }
  if (going && e.timeStamp - going < 1500 && /^[a-z]$/.test(e.key)) {
    const to = document.querySelector(`.nav[data-key=${e.key}]`);
    if (to) location.assign(to.href);
  }
  going = 0;
});

// Changing a choice submits its form, without a button.
for (const form of document.querySelectorAll("form.choices[method=get]")) {
  for (const field of form.querySelectorAll("select, input[type=checkbox]")) field.addEventListener("change", () => form.requestSubmit());
}

// Results as one types: those of the search page, below the field, or in place if this is the search page.
const find = byId("find");
const found = document.createElement("div");
found.className = "found";
found.hidden = true;
found.setAttribute("aria-live", "polite");
find.form.after(found);
const suggest = async (text) => {
  const answer = await fetch(`/search?q=${encodeURIComponent(text)}`);
  if (!answer.ok || find.value.trim() !== text) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("content");
  if (location.pathname === "/search") {
    byId("content").replaceChildren(...page.childNodes);
    return;
  }
  found.replaceChildren(page.querySelector("ul.hits") ?? page.querySelector("h1"));
  found.hidden = false;
};
let pause = 0;
find.addEventListener("input", () => {
  clearTimeout(pause);
  const text = find.value.trim();
  if (text.length < 2) { found.hidden = true; return; }
  pause = setTimeout(() => suggest(text).catch(() => {}), 150);
});
find.addEventListener("keydown", (e) => { if (e.key === "Escape") found.hidden = true; });
