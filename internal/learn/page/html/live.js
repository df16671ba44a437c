// The page works without this, by reload. It brings what is new, and a button to copy.
(() => {
  const told = document.getElementById("told");
  const tell = (text) => { if (told.textContent !== text) told.textContent = text; };

  const addButtons = () => {
    for (const code of document.querySelectorAll("code.run")) {
      const button = document.createElement("button");
      button.type = "button";
      button.id = "copy-" + code.id;
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy the command " + code.textContent);
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(code.textContent);
          tell("Copied.");
        } catch {
          getSelection().selectAllChildren(code);
          tell("Selected: copy it with the keyboard.");
        }
      });
      code.after(button);
    }
  };

  // answers are where the gates stand, to say what changed.
  const answers = () => new Map([...document.querySelectorAll("[data-gate]")].map((e) => [e.dataset.gate, e.dataset.answer]));

  const refresh = async () => {
    const answer = await fetch("/", { cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("board");
    if (!fresh) return;
    const before = answers();
    const focus = document.activeElement?.id;
    const open = new Set([...document.querySelectorAll("#board details[open]")].map((e) => e.id));
    document.getElementById("board").replaceWith(document.adoptNode(fresh));
    document.title = page.title;
    for (const e of document.querySelectorAll("#board details")) e.open = open.has(e.id);
    addButtons();
    if (focus) document.getElementById(focus)?.focus();
    const moved = [...answers()].filter(([gate, now]) => before.get(gate) !== now).map(([gate, now]) => gate + ": " + now);
    tell((moved.length > 0 ? moved.slice(0, 4).join(", ") + ". " : "") + "Live, as of " + fresh.dataset.seen + " UTC.");
  };

  addButtons();
  let going = false, again = false;
  const come = async () => {
    again = true;
    if (going) return;
    going = true;
    while (again) {
      again = false;
      try { await refresh(); } catch { tell("Not live: pawl session checklist does not answer. This is what was last known."); }
    }
    going = false;
  };
  const source = new EventSource("/events");
  source.addEventListener("changed", come);
  source.addEventListener("error", () => tell("Not live: pawl session checklist has ended, or is out of reach. This is what was last known."));
})();
