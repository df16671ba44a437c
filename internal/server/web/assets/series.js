// Interactive history of a series: hover for evidence, drag to zoom, click to pin two
// points. All of it works by keyboard too. If this fails, the server's drawing stays.
import uPlot from "./uplot/uPlot.esm.js";
import { show, showPins } from "./evidence.js";
import { drawFlags, readTones } from "./flags.js";
import { scaleOf } from "./quantity.js";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("chart-data").textContent);
const box = byId("chart");

const fromAPI = (list) => (list || []).map((p) => ({ ...p, x: Date.parse(p.at) / 1000, baseline: p.baseline || 0 }));
const fromColumns = (c) => {
  const names = ["report", "commit", "title", "value", "low", "high", "spread", "rounds", "baseline", "trust", "verdict"];
  const list = (c.at || []).map((x, i) => { const p = { x }; for (const n of names) p[n] = c[n][i]; return p; });
  for (const i of c.moved || []) list[i].moved = true;
  return list;
};
const whole = fromColumns(data.columns); // the points in the page
const titles = new Map(whole.filter((p) => p.title).map((p) => [p.commit, p.title]));
let points = whole;
let pins = [];
let chosen = -1;

const columns = () => [
  points.map((p) => p.x), points.map((p) => p.value), points.map((p) => p.high), points.map((p) => p.low),
  points.map((p) => (p.moved ? p.value : p.baseline || null)),
];

// Colors come from the page, in light and dark mode.
const tones = {};
readTones(tones);

const [unitName, unitSize] = scaleOf(Math.max(...whole.map((p) => p.value), 0), data.unit);
const font = "12px system-ui, sans-serif";
const axis = (more) => ({ font, stroke: () => tones.soft, grid: { stroke: () => tones.line, width: 1 }, ticks: { stroke: () => tones.line, size: 4 }, ...more });
const height = () => (innerWidth < 736 ? 240 : 340);

const bounds = (u, low, high) => {
  if (!(high > low)) return [low * 0.99, high * 1.01 || 1];
  const pad = (high - low) * 0.07;
  return [low - pad, high + pad];
};

const options = () => ({
  width: box.clientWidth || 300, height: height(), padding: [20, 8, 0, 0], legend: { show: false }, tzDate: (t) => uPlot.tzDate(new Date(t * 1000), "UTC"),
  scales: { x: { time: true }, y: { range: bounds } },
  axes: [axis({ space: 70 }), axis({ size: 64, values: (u, list) => list.map((v, i) => { const t = v / unitSize; return `${+t.toPrecision(5)}${i === list.length - 1 ? ` ${unitName}` : ""}`; }) })],
  cursor: { drag: { x: true, y: false, dist: 6 }, points: { size: 9, fill: () => tones.now, stroke: () => tones.card } },
  series: [
    {},
    { label: "value", stroke: () => tones.now, width: 1.5, points: { size: 5, fill: () => tones.now, show: (u, s, i0, i1) => i1 - i0 < 200 } },
    { label: "high", stroke: "transparent", points: { show: false } },
    { label: "low", stroke: "transparent", points: { show: false } },
    { label: "baseline", stroke: () => tones.base, width: 1.2, dash: [4, 3], points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) },
  ],
  bands: [{ series: [2, 3], fill: () => `color-mix(in srgb, ${tones.now} 16%, transparent)` }],
  hooks: { draw: [drawMarks], setCursor: [hovered], setScale: [scaled] },
});

function drawMarks(u) {
  drawFlags(u, data.events, tones);
  const ctx = u.ctx;
  const ratio = devicePixelRatio || 1;
  const { left, width } = u.bbox;
  ctx.save();
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.font = `bold ${10 * ratio}px system-ui, sans-serif`;
  pins.forEach((p, i) => {
    const x = u.valToPos(p.x, "x", true);
    const y = u.valToPos(p.value, "y", true);
    if (x < left || x > left + width) return;
    ctx.lineWidth = 2.5 * ratio;
    ctx.strokeStyle = tones.ink;
    ctx.fillStyle = tones.card;
    ctx.beginPath();
    ctx.arc(x, y, 6 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.stroke();
    ctx.fillStyle = tones.ink;
    ctx.fillText("AB"[i], x, y - 14 * ratio);
  });
  ctx.restore();
}

function hovered(u) {
  const i = u.cursor.idx;
  if (i == null || !points[i] || i === chosen) return;
  chosen = i;
  show(byId("point"), data, points[i], titles);
}

// The visible range is kept in the URL. Zooming into a thinned history fetches more points.
let waiting = 0;
let asked;
function scaled(u, key) {
  if (key !== "x" || !u.ready) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => settle(u.scales.x.min, u.scales.x.max), 150);
}

const extent = () => [whole[0].x, whole[whole.length - 1].x];
const isWhole = (from, to) => { const [a, b] = extent(); return from <= a && to >= b; };
const iso = (t) => new Date(Math.round(t) * 1000).toISOString().replace(".000", "");

async function settle(from, to) {
  const where = new URL(location.href);
  if (isWhole(from, to)) {
    if (data.from) where.searchParams.set("from", iso(data.from)); else where.searchParams.delete("from");
    if (data.to) where.searchParams.set("to", iso(data.to)); else where.searchParams.delete("to");
  } else {
    where.searchParams.set("from", iso(from));
    where.searchParams.set("to", iso(to));
  }
  history.replaceState(null, "", where);
  if (!data.thinned) return;
  asked?.abort();
  if (isWhole(from, to)) return replace(whole);
  asked = new AbortController();
  try {
    const query = new URLSearchParams({ from: iso(from), to: iso(to + 1), buckets: String(data.buckets) });
    const answer = await fetch(`/v1/projects/${encodeURIComponent(data.project)}/series/${data.series}/points?${query}`, { signal: asked.signal, headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const body = await answer.json();
    const closer = fromAPI(body.items);
    if (closer.length) replace([...whole.filter((p) => p.x < closer[0].x), ...closer, ...whole.filter((p) => p.x > closer[closer.length - 1].x)]);
  } catch (e) {
    if (e.name !== "AbortError") throw e;
  }
}

function replace(list) {
  points = list;
  chosen = -1;
  chart.setData(columns(), false);
  chart.redraw();
}

const zoom = (by, around) => {
  const { min, max } = chart.scales.x;
  const middle = around ?? (min + max) / 2;
  const [a, b] = extent();
  const from = Math.max(a, middle - (middle - min) * by);
  const to = Math.min(b, middle + (max - middle) * by);
  if (to - from > 60) chart.setScale("x", { min: from, max: to });
};
const pan = (by) => {
  const { min, max } = chart.scales.x;
  const [a, b] = extent();
  const step = Math.min(Math.max((max - min) * by, a - min), b - max);
  chart.setScale("x", { min: min + step, max: max + step });
};
const all = () => { const [a, b] = extent(); chart.setScale("x", { min: a, max: b }); };

const choose = (i) => {
  if (!points[i]) return;
  const { min, max } = chart.scales.x;
  const p = points[i];
  if (p.x < min || p.x > max) pan((p.x - (min + max) / 2) / (max - min));
  chart.setCursor({ left: chart.valToPos(p.x, "x"), top: chart.valToPos(p.value, "y") });
};
const unpin = () => { pins = []; told(); };
const told = () => { showPins(byId("pins"), data, pins, unpin); chart.redraw(false); };
const pin = () => {
  if (!points[chosen]) return;
  pins = pins.length === 2 ? [points[chosen]] : [...pins, points[chosen]];
  told();
};

const does = { back: () => pan(-0.4), forth: () => pan(0.4), in: () => zoom(0.5), out: () => zoom(2), all };
const keys = {
  ArrowLeft: (e) => (e.shiftKey ? pan(-0.25) : choose(chosen < 0 ? points.length - 1 : chosen - 1)),
  ArrowRight: (e) => (e.shiftKey ? pan(0.25) : choose(chosen < 0 ? 0 : chosen + 1)),
  Home: () => choose(0), End: () => choose(points.length - 1),
  "+": () => zoom(0.5, points[chosen]?.x), "=": () => zoom(0.5, points[chosen]?.x), "-": () => zoom(2, points[chosen]?.x),
  Enter: pin, " ": pin, Escape: () => { unpin(); all(); },
};

let chart;
if (whole.length > 1) {
  box.hidden = false;
  byId("drawn").hidden = true;
  byId("chart-tools").hidden = false;
  byId("evidence").hidden = false;
  chart = new uPlot(options(), columns(), box);
  chart.ready = true;
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Chart: arrow keys move between points, plus and minus zoom, Enter pins a point, Escape shows all");
  byId("chart-tools").addEventListener("click", (e) => does[e.target.dataset.do]?.());
  box.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    keys[e.key](e);
    e.preventDefault();
  });
  let down = 0;
  chart.over.addEventListener("pointerdown", (e) => { down = e.clientX; });
  chart.over.addEventListener("click", (e) => { if (Math.abs(e.clientX - down) < 5) pin(); });
  chart.over.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return; // the page scrolls
    e.preventDefault();
    zoom(e.deltaY < 0 ? 0.8 : 1.25, chart.posToVal(e.offsetX, "x"));
  }, { passive: false });
  new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: height() })).observe(box);
  addEventListener("pawl-theme", () => { readTones(tones); chart.redraw(); });
  show(byId("point"), data, whole[whole.length - 1], titles);
  told();
  performance.mark("pawl-chart");
}
