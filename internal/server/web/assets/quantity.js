// Numbers as the pages write them: four digits, times in the unit people think in.
const digits = (v) => (v === 0 ? "0" : v.toFixed(Math.min(Math.max(3 - Math.floor(Math.log10(Math.abs(v))), 0), 6)));

const times = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];

export const quantity = (v, unit) => {
  if (!Number.isFinite(v)) return "-";
  if (unit !== "ns" || v === 0) return `${digits(v)} ${unit}`;
  const [name, ns] = times.find(([, n]) => v >= n) || times[3];
  return `${digits(v / ns)} ${name}`;
};

// scaleOf is one unit for a whole axis.
export const scaleOf = (v, unit) => (unit === "ns" ? times.find(([, n]) => v >= n) || times[3] : [unit, 1]);

// change has no sign where it rounds to zero.
export const change = (share) => {
  const digits = Math.abs(share * 100).toFixed(1);
  return `${digits === "0.0" ? "" : share < 0 ? "\u2212" : "+"}${digits} %`;
};

export const minute = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
