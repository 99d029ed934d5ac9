// Keys for people who judge hundreds of threads. They press buttons and tick fields that are on the page anyway.
(() => {
  const questions = () =>
    [...document.querySelectorAll("#links fieldset, #entities fieldset")].filter((field) => field.offsetParent);
  const inputs = (field) => [...field.querySelectorAll("input")];
  const press = (selector) => document.querySelector(selector)?.click();
  const answerRest = (part) =>
    questions()
      .filter((field) => field.closest(part) && !inputs(field).some((input) => input.checked))
      .forEach((field) => inputs(field)[0].click());

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
    if (questions().includes(field)) {
      inputs(field)[choice].click();
      move(1);
    } else move(1);
  }

  const category = (place) => document.querySelectorAll("#category input")[place]?.click();
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
    u: () => press("#unfinished"),
    "[": () => press("#previous"),
    "]": () => press("#next"),
    Enter: () => press("#finish"),
  };

  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("textarea, input:not([type=radio])");
    if (event.key === "Escape" && typing) return event.target.blur();
    if (event.key === "Enter" && event.ctrlKey) return press("#finish");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && event.target.closest("button, a, summary")) return;
    const action = actions[event.key];
    if (!action || !document.querySelector("#finish")) return;
    event.preventDefault();
    action();
  });

  window.annotate = { answerRest };
})();
