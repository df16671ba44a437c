// The map is one stop of the Tab key; arrows go from cell to cell, and the line below
// says what the cell says.
const map = document.getElementById("heat");
const line = document.getElementById("cell");
if (map) {
  const box = map.parentElement;
  box.scrollLeft = box.scrollWidth; // the newest
  const rows = [...map.tBodies[0].rows].map((r) => [...r.cells].slice(1).map((c) => c.querySelector("a")));
  const links = rows.flat().filter(Boolean);
  const place = new Map();
  rows.forEach((row, y) => row.forEach((a, x) => { if (a) place.set(a, [x, y]); }));
  for (const a of links) a.tabIndex = -1;
  const last = rows.map((row) => row.findLast(Boolean)).find(Boolean);
  if (last) last.tabIndex = 0;
  const go = (to) => {
    for (const a of links) a.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
  map.addEventListener("keydown", (e) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    const at = place.get(e.target);
    if (!step || !at) return;
    e.preventDefault();
    let [x, y] = at;
    for (;;) {
      x += step[0];
      y += step[1];
      if (!rows[y] || x < 0 || x >= rows[y].length) return;
      if (rows[y][x]) return go(rows[y][x]);
    }
  });
  const tell = (e) => { const a = e.target.closest("td a"); if (a) line.textContent = a.title; };
  map.addEventListener("focusin", tell);
  map.addEventListener("pointerover", tell);
}
