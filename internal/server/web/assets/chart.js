// Several series in one chart: hover for the values of all lines, drag to zoom. If this
// fails, the server's drawing stays.
import uPlot from "./uplot/uPlot.esm.js";
import { drawFlags, readTones } from "./flags.js";
import { change, minute, quantity, scaleOf } from "./quantity.js";

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("chart-data").textContent);
const box = byId("chart");
const swatches = [...document.querySelectorAll(".legend-table .swatch path")];
const cells = [...document.querySelectorAll(".legend-table .cursor")];
const byCommit = Boolean(data.commits);

// All lines share one list of positions; a line is null where it has no point.
const xs = [...new Set(data.lines.flatMap((l) => l.at || []))].sort((a, b) => a - b);
const column = (l) => {
  const at = new Map((l.at || []).map((x, i) => [x, l.value[i]]));
  return xs.map((x) => at.get(x) ?? null);
};
const columns = [xs, ...data.lines.map(column)];

const tones = {};
readTones(tones);
const top = Math.max(0, ...data.lines.flatMap((l) => l.value || []));
const [unitName, unitSize] = data.change ? ["%", 1] : scaleOf(top, data.unit);
const axis = (more) => ({ font: "12px system-ui, sans-serif", stroke: () => tones.soft, grid: { stroke: () => tones.line, width: 1 }, ticks: { stroke: () => tones.line, size: 4 }, ...more });
const commitAxis = { space: 90, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000], values: (u, list) => list.map((i) => data.commits[i]?.commit.slice(0, 8) ?? "") };
const height = () => (innerWidth < 736 ? 260 : 360);
const dash = (style) => (style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[ ,]+/).map(Number.parseFloat));

const options = () => ({
  width: box.clientWidth || 300, height: height(), padding: [20, 20, 0, 0], legend: { show: false }, tzDate: (t) => uPlot.tzDate(new Date(t * 1000), "UTC"),
  scales: { x: { time: !byCommit } },
  axes: [axis(byCommit ? commitAxis : { space: 70 }), axis({ size: 64, values: (u, list) => list.map((v, i) => `${+(v / unitSize).toPrecision(5)}${i === list.length - 1 ? ` ${unitName}` : ""}`) })],
  cursor: { drag: { x: true, y: false, dist: 6 } },
  series: [{}, ...swatches.map((s) => ({ stroke: () => getComputedStyle(s).stroke, dash: dash(getComputedStyle(s)), width: 1.8, spanGaps: true, points: { show: false } }))],
  hooks: { draw: [(u) => drawFlags(u, data.events, tones), letters], setCursor: [hovered] },
});

// letters names each line at its last point in view.
function letters(u) {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.font = `bold ${12 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  swatches.forEach((s, n) => {
    let i = u.valToIdx(u.scales.x.max);
    while (i >= 0 && columns[n + 1][i] == null) i--;
    if (i < 0 || xs[i] < u.scales.x.min) return;
    ctx.fillStyle = getComputedStyle(s).stroke;
    const x = Math.min(u.valToPos(xs[i], "x", true), bbox.left + bbox.width);
    ctx.fillText(String.fromCharCode(65 + n), x + 4 * ratio, u.valToPos(columns[n + 1][i], "y", true));
  });
  ctx.restore();
}

// hovered shows the value that each line has at the cursor: that of its last point up to there.
function hovered(u) {
  const at = u.cursor.idx;
  byId("when").textContent = at == null ? "" : byCommit ? `At ${data.commits[xs[at]].commit}, ${minute(data.commits[xs[at]].at)}.` : `At ${minute(xs[at])}.`;
  cells.forEach((cell, n) => {
    let i = at ?? -1;
    while (i >= 0 && columns[n + 1][i] == null) i--;
    const v = i < 0 ? null : columns[n + 1][i];
    cell.textContent = v == null ? "" : data.change ? change(v / 100) : quantity(v, data.unit);
  });
}

let chart;
const all = () => chart.setScale("x", { min: xs[0], max: xs[xs.length - 1] });
const zoom = (by) => {
  const { min, max } = chart.scales.x;
  const middle = chart.cursor.idx == null ? (min + max) / 2 : xs[chart.cursor.idx];
  const from = Math.max(xs[0], middle - (middle - min) * by);
  const to = Math.min(xs[xs.length - 1], middle + (max - middle) * by);
  if (to - from > (byCommit ? 2 : 60)) chart.setScale("x", { min: from, max: to });
};
const choose = (i) => {
  const n = Math.min(Math.max(i, 0), xs.length - 1);
  chart.setCursor({ left: chart.valToPos(xs[n], "x"), top: 0 });
};
const keys = {
  ArrowLeft: () => choose((chart.cursor.idx ?? xs.length) - 1), ArrowRight: () => choose((chart.cursor.idx ?? -1) + 1),
  Home: () => choose(0), End: () => choose(xs.length - 1), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), Escape: all,
};

if (xs.length > 1) {
  box.hidden = false;
  byId("drawn").hidden = true;
  chart = new uPlot(options(), columns, box);
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Chart: arrow keys move between points, plus and minus zoom, Escape shows all");
  box.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    keys[e.key]();
    e.preventDefault();
  });
  new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: height() })).observe(box);
  addEventListener("pawl-theme", () => { readTones(tones); chart.redraw(); });
}
