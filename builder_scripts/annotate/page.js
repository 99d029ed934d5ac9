// What the page does by itself: it holds on to what is not saved yet, and has keys for people who judge hundreds of
// threads.
window.annotate = (() => {
  const now = () => performance.timeOrigin + performance.now();
  const inputs = (field) => [...field.querySelectorAll("input")];
  const visible = (selector) => [...document.querySelectorAll(selector)].filter((field) => field.offsetParent);

  // ---- What is not saved yet outlives a reload: when the connection is lost, Gradio sends nothing more and loads the
  // ---- page again as soon as there is a server.

  const UNSAVED = "annotate.unsaved";
  const fields = () => visible("#work fieldset, #work textarea");
  const read = (field) =>
    field.matches("textarea") ? field.value : inputs(field).findIndex((input) => input.checked);
  let touched = 0;

  document.addEventListener(
    "input",
    (event) => {
      const work = event.target.closest("#work");
      if (!work) return;
      touched = now();
      work.dataset.unsaved = "";
      const { annotator, thread } = Object.fromEntries(new URL(location).searchParams);
      sessionStorage.setItem(UNSAVED, JSON.stringify({ annotator, thread, values: fields().map(read) }));
    },
    true,
  );

  function forget() {
    delete document.querySelector("#work")?.dataset.unsaved;
    sessionStorage.removeItem(UNSAVED);
  }

  function write(field, value) {
    if (read(field) === value) return;
    if (!field.matches("textarea")) return inputs(field)[value]?.click();
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  async function restore(annotator, thread) {
    const kept = JSON.parse(sessionStorage.getItem(UNSAVED));
    if (kept?.annotator !== annotator || kept.thread !== thread) return;
    for (let tries = 0; tries < 100 && fields().length !== kept.values.length; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50)); // the page is still being drawn
    const drawn = fields();
    if (drawn.length === kept.values.length) drawn.forEach((field, place) => write(field, kept.values[place]));
  }

  // An answer given while the page is still being drawn, or when the connection failed for a moment, is sent again.
  setInterval(() => {
    if (now() - touched > 2000) document.querySelector("#work[data-unsaved] #save")?.click();
  }, 1000);

  // Runs before answers are sent. The page's own clock orders what it sends.
  const stamp = (annotator, thread, _, ...answers) => [annotator, thread, now(), ...answers];

  // Runs after every answer of the server. The address keeps annotator and thread, so that a reload comes back to them.
  function shown(annotator, thread, saved) {
    const sent = Number(/data-sent="([\d.]+)"/.exec(saved ?? "")?.[1] ?? 0);
    if (touched && sent >= touched) forget();
    if (!annotator) return;
    const url = new URL(location);
    if (url.searchParams.get("thread") !== thread) scrollTo(0, 0);
    url.searchParams.set("annotator", annotator);
    url.searchParams.set("thread", thread);
    if (url.href !== location.href) history.replaceState(null, "", url);
    if (!touched) restore(annotator, thread);
  }

  // ---- Keys press buttons and tick fields that are on the page anyway

  const questions = () => visible("#links fieldset, #entities fieldset");
  const answerRest = (part) =>
    questions()
      .filter((field) => field.closest(part) && !inputs(field).some((input) => input.checked))
      .forEach((field) => inputs(field)[0].click());
  const category = (place) => document.querySelectorAll("#category input")[place]?.click();
  // What has the focus belongs to the thread that is left; the next one starts at its first question.
  const leave = (button) => {
    document.activeElement?.blur();
    document.querySelector(button)?.click();
  };

  function move(step) {
    const fields = questions();
    const at = fields.indexOf(document.activeElement?.closest("fieldset"));
    const field = fields[at < 0 ? (step > 0 ? 0 : fields.length - 1) : at + step];
    if (!field) return;
    (inputs(field).find((input) => input.checked) ?? inputs(field)[0]).focus();
    field.scrollIntoView({ block: "nearest" });
  }

  function answer(choice) {
    const field = document.activeElement?.closest("fieldset");
    if (questions().includes(field)) inputs(field)[choice].click();
    move(1);
  }

  const actions = {
    1: () => category(0),
    2: () => category(1),
    3: () => category(2),
    j: () => move(1),
    k: () => move(-1),
    y: () => answer(0),
    n: () => answer(1),
    v: () => answerRest("#links"),
    r: () => answerRest("#entities"),
    e: () => document.querySelector("#query textarea")?.focus(),
    u: () => leave("#unfinished"),
    "[": () => leave("#previous"),
    "]": () => leave("#next"),
    Enter: () => leave("#finish"),
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("textarea, input:not([type=radio])");
    if (event.key === "Escape" && typing) return event.target.blur();
    if (event.key === "Enter" && event.ctrlKey) return leave("#finish");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target.closest("button, a, summary")) return;
    const action = actions[event.key];
    if (!action || !document.querySelector("#finish")) return;
    event.preventDefault();
    action();
  });

  return { answerRest, shown, stamp };
})();
