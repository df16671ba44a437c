// Flags of changes on the canvas of a chart, and links over them. The list below the chart
// has the same links for the keyboard.
export function drawFlags(u, events, tones) {
  const ctx = u.ctx;
  const ratio = devicePixelRatio || 1;
  const { top, height: tall, left, width } = u.bbox;
  const wrap = u.over.parentElement;
  for (const old of wrap.querySelectorAll(".flag-link")) old.remove();
  ctx.save();
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.font = `bold ${10 * ratio}px system-ui, sans-serif`;
  (events || []).forEach((e, i) => {
    const end = u.valToPos(e.at, "x", true);
    const begin = e.since ? u.valToPos(e.since, "x", true) : end;
    ctx.strokeStyle = ctx.fillStyle = e.worse ? tones.bad : tones.good;
    if (e.since) { // a drift has no single place: shade its range, with the number in the middle
      const from = Math.max(begin, left);
      ctx.globalAlpha = 0.1;
      ctx.fillRect(from, top, Math.max(0, Math.min(end, left + width) - from), tall);
      ctx.globalAlpha = 1;
    }
    const x = (begin + end) / 2;
    if (x < left || x > left + width) return;
    if (!e.since) {
      ctx.lineWidth = 1.5 * ratio;
      ctx.setLineDash([3 * ratio, 2 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + tall);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    ctx.beginPath();
    ctx.arc(x, top - 9 * ratio, 8 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillStyle = tones.card;
    ctx.fillText(String(i + 1), x, top - 8.5 * ratio);
    const link = Object.assign(document.createElement("a"), { className: "flag-link", href: `#event-${e.id}`, tabIndex: -1 });
    link.setAttribute("aria-label", `Change ${i + 1}`);
    link.style.left = `${x / ratio - 12}px`;
    link.style.top = `${top / ratio - 21}px`;
    wrap.append(link);
  });
  ctx.restore();
}

// readTones reads the colors of the page, which differ in light and dark mode.
export const readTones = (tones) => {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["now", "base", "soft", "faint", "line", "card", "bad", "good", "ink"]) tones[name] = style.getPropertyValue(`--${name}`).trim();
};
