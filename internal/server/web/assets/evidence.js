// Shows the data of a point, and of two pinned points. Everything is set as text, because
// commit titles are untrusted.
import { change, minute, quantity } from "./quantity.js";

const make = (name, text, props = {}) => Object.assign(document.createElement(name), { textContent: text }, props);

export const link = (text, href) => make("a", text, { href, rel: "noreferrer", className: "name" });

const facts = (list, pairs) => {
  list.replaceChildren(...pairs.filter(([, value]) => value).flatMap(([name, value]) => {
    const dd = document.createElement("dd");
    dd.append(...(Array.isArray(value) ? value : [value]));
    return [make("dt", name), dd];
  }));
};

// show fills the list with one point.
export const show = (list, data, p, titles) => {
  const title = p.title || titles.get(p.commit?.slice(0, 10));
  const commit = p.commit ? (data.commits ? link(p.commit.slice(0, 10), data.commits + encodeURIComponent(p.commit)) : make("span", p.commit.slice(0, 10), { className: "name" })) : null;
  facts(list, [
    ["Value", quantity(p.value, data.unit)],
    ["Interval", `${quantity(p.low, data.unit)} to ${quantity(p.high, data.unit)}`],
    ["Rounds", `${p.rounds}, spread ${(p.spread * 100).toFixed(1)} %`],
    ["Baseline", p.baseline ? `${quantity(p.baseline, data.unit)} (${change(p.value / p.baseline - 1)})${p.moved ? ", moved to this point" : ""}` : p.moved ? "started here" : ""],
    ["When", minute(p.x)],
    ["Commit", commit && [commit, title ? ` ${title}` : ""]],
    ["Run", [make("a", `report ${p.report}`, { href: `/p/${encodeURIComponent(data.project)}/runs/${p.report}` })]],
    ["Verdict", p.verdict],
    ["Trust", p.trust],
  ]);
};

// showPins lists the pinned points and links to their comparison.
export const showPins = (box, data, pins, clear) => {
  box.replaceChildren();
  const [a, b] = pins;
  if (!a) {
    box.append(make("p", "Click a point, or press Enter on it, to pin it. Pin two to compare them.", { className: "soft" }));
    return;
  }
  const card = make("div", "", { className: "card" });
  pins.forEach((p, i) => card.append(make("p", `${"AB"[i]}: ${quantity(p.value, data.unit)}, ${minute(p.x)}`)));
  if (b) {
    const share = b.value / a.value - 1;
    const worse = share > 0 !== data.higher;
    const said = make("p", "");
    said.append(make("span", `${change(share)} ${worse ? "worse" : "better"}`, { className: `badge ${worse ? "regression" : "improvement"}` }), " ");
    said.append(make("a", "Compare A with B", { href: `${data.compare}?a=${data.series}.${a.report}&b=${data.series}.${b.report}` }));
    card.append(said);
  } else {
    card.append(make("p", "Pin another point to compare.", { className: "soft" }));
  }
  card.append(make("button", "Unpin", { type: "button", onclick: clear }));
  box.append(card);
};
