// Updates the page of a live run. Events only trigger a reload of the page that the server
// renders. So there is one way to render a run, and its texts are never parsed as HTML here.
const part = document.getElementById("live");
const pause = 1000; // min ms between reloads, however many events arrive
const fallback = 5000; // ms between reloads without an event stream

let due = 0;
let stream;

// show replaces the old content. The status line changes only if its text does, so that
// screen readers do not repeat it. The table keeps its focus and scroll position.
const show = (fresh) => {
  const [said, saying] = [part, fresh].map((p) => p.querySelector("[role=status]"));
  if (said.textContent !== saying.textContent) said.replaceChildren(...saying.childNodes);
  const [rest, next] = [part, fresh].map((p) => p.querySelector(".rest"));
  const table = rest.querySelector(".scroll");
  const [held, left] = [table === document.activeElement, table.scrollLeft];
  rest.replaceChildren(...next.childNodes);
  const now = rest.querySelector(".scroll");
  now.scrollLeft = left;
  if (held) now.focus({ preventScroll: true });
};

const look = async () => {
  due = 0;
  let over = false;
  try {
    const answer = await fetch(location.href);
    over = answer.status === 404; // the server has dropped the run
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
      show(fresh);
      over = "over" in fresh.dataset;
    }
  } catch { /* the server is unreachable: try again later */ }
  if (over) {
    clearInterval(slow);
    stream.close();
  }
};

const ring = () => { due ||= setTimeout(look, pause); };
const slow = setInterval(() => { if (stream.readyState !== EventSource.OPEN) ring(); }, fallback);

stream = new EventSource(part.dataset.events);
for (const kind of ["step", "started", "side", "case", "round", "looked", "verdict", "ended"]) stream.addEventListener(kind, ring);
