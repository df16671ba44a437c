// The page works without this. It adds the filter, and opens the sections around a link target.
(() => {
  const box = document.getElementById("filter");
  const input = document.getElementById("wanted");
  const told = document.getElementById("told");
  const cases = [...document.querySelectorAll("details.case")];
  const folds = [...document.querySelectorAll("details.fold")];
  const sections = [...document.querySelectorAll("section.class")];
  const openBefore = new Map(folds.map((fold) => [fold, fold.open]));
  box.hidden = cases.length < 2;

  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const c of cases) {
      const text = c.dataset.text;
      const match = words.every((w) => text.includes(w));
      c.hidden = !match;
      if (match) shown++;
    }
    for (const s of sections) s.hidden = words.length > 0 && !s.querySelector("details.case:not([hidden])");
    for (const fold of folds) {
      if (words.length > 0) fold.open = true;
      else fold.open = openBefore.get(fold);
    }
    told.textContent = words.length > 0 ? shown + " of " + cases.length + " cases" : "";
  };
  input.addEventListener("input", filter);
  input.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { input.value = ""; filter(); }
  });

  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    if (target) target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  reveal();
})();
