// Pages work without this. It adds a search and a switch between light and dark.
const root = document.documentElement;
const chosen = (() => { try { return localStorage.getItem("pawl-theme"); } catch { return null; } })();
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

const darkLiked = matchMedia("(prefers-color-scheme: dark)");
const turn = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : darkLiked.matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("pawl-theme", root.dataset.theme); } catch { /* the choice lasts for this page */ }
};

// rank returns how well a section fits all words; 0 if one is missing.
const rank = (words, page, s) => {
  let sum = 0;
  const title = (s.t || "").toLowerCase(), name = page.toLowerCase(), text = `${s.x.toLowerCase()} ${s.w || ""}`;
  for (const word of words) {
    const score = (title.includes(word) ? 8 : 0) + (name.includes(word) ? (s.t ? 4 : 12) : 0) + (text.includes(word) ? 1 : 0);
    if (score === 0) return 0;
    sum += score;
  }
  return sum;
};

const search = (index, query) => {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return index.sections
    .map((s) => ({ s, page: index.pages[s.p], score: rank(words, index.pages[s.p][1], s) }))
    .filter((f) => f.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, 20);
};

const item = ({ s, page }) => {
  const a = document.createElement("a");
  a.href = root.dataset.root + page[0] + (s.i ? `#${s.i}` : "");
  a.textContent = s.t ? `${page[1]}: ${s.t}` : page[1];
  const about = document.createElement("span");
  about.textContent = s.x;
  a.append(about);
  const li = document.createElement("li");
  li.append(a);
  return li;
};

addEventListener("DOMContentLoaded", () => {
  const theme = document.getElementById("site-theme"), find = document.getElementById("site-find"), found = document.getElementById("site-found");
  theme.hidden = document.getElementById("site-search").hidden = false;
  theme.addEventListener("click", turn);
  let index;
  const show = async () => {
    index ??= fetch(`${root.dataset.root}search.json`).then((r) => r.json());
    const list = search(await index, find.value);
    found.replaceChildren(...list.map(item));
    found.hidden = list.length === 0;
  };
  find.addEventListener("input", show);
  find.addEventListener("focus", show);
  addEventListener("keydown", (e) => {
    if (e.key === "Escape") found.hidden = true;
    if (e.key === "Enter" && e.target === find) found.querySelector("a")?.click();
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input")) return;
    find.focus();
    e.preventDefault();
  });
  addEventListener("click", (e) => { if (!e.target.closest("#site-search")) found.hidden = true; });
});
