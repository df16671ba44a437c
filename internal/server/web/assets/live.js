// A live run: its events ring a bell, and the page as the server writes it takes the place
// of what is shown. So there is one way to show a run, and no text of it is ever taken for
// anything else.
const part = document.getElementById("live");
const pause = 1000; // between looks, however much happens
const fallback = 5000; // where no events come

let due = 0;
let stream;

// show puts what is new where the old was. What is read aloud changes only when it says
// something else, and who stands in the table stays there.
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
    over = answer.status === 404; // the server knows nothing of it any more
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
      show(fresh);
      over = "over" in fresh.dataset;
    }
  } catch { /* the server is away: a later look tells */ }
  if (over) {
    clearInterval(slow);
    stream.close();
  }
};

const ring = () => { due ||= setTimeout(look, pause); };
const slow = setInterval(() => { if (stream.readyState !== EventSource.OPEN) ring(); }, fallback);

stream = new EventSource(part.dataset.events);
for (const kind of ["step", "started", "side", "case", "round", "looked", "verdict", "ended"]) stream.addEventListener(kind, ring);
