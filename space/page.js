// The address is the state of the page: a link or a field of it changes the address, the server renders what it names,
// and going back renders what it named before.
window.space = (() => {
  let send = null;
  let server = null;
  let rendered = {};
  // One question at a time, so that what was asked first is never shown last. The first is asked by loading the page.
  let askedAt = performance.now();
  let again = false;
  const patience = 20_000; // ms, after which an answer is taken for lost

  const params = (search) => Object.fromEntries(new URLSearchParams(search));

  function ask() {
    document.body.dataset.busy = "";
    again = performance.now() - askedAt < patience;
    if (again) return;
    askedAt = performance.now();
    send("input", params(location.search));
  }

  function go(search, { replace = false } = {}) {
    const address = new URL(search.replaceAll("%2C", ",").replaceAll("%40", "@"), location.href);
    if (address.search === location.search) return;
    history[replace ? "replaceState" : "pushState"](null, "", address);
    tellFrame();
    ask();
  }

  // A Space stands in a frame of the Hub, whose own address follows when it is told to.
  function tellFrame() {
    if (parent === window) return;
    const own = Object.entries(params(location.search)).filter(([name]) => !name.startsWith("__"));
    parent.postMessage({ queryString: new URLSearchParams(own).toString() }, "https://huggingface.co");
  }

  // ---- Links of the page, opened in place; with a modifier key they open as any other link does.

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-go]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link.getAttribute("href"));
  });

  // ---- Fields: a list or a tick box at once, a text when there is a pause in typing.

  let typing;
  function fieldsOf(form) {
    const address = new URL(location.href);
    for (const field of form.elements) {
      if (!field.name) continue;
      const value = field.type === "checkbox" ? (field.checked ? "yes" : "no") : field.value;
      if (field.dataset.join) continue;
      if (value === "" || value === field.dataset.standard) address.searchParams.delete(field.name);
      else address.searchParams.set(field.name, value);
    }
    const joined = [...form.querySelectorAll("[data-join]")];
    if (joined.length) address.searchParams.set(joined[0].dataset.join, joined.map((field) => field.value).join(","));
    return address.search || "?";
  }

  document.addEventListener("input", (event) => {
    const form = event.target.closest("form.controls");
    if (!form) return;
    clearTimeout(typing);
    const typed = event.target.matches("[type=search]");
    typing = setTimeout(() => go(fieldsOf(form), { replace: typed }), typed ? 250 : 0);
  });
  document.addEventListener("submit", (event) => {
    if (event.target.matches("form.controls")) event.preventDefault();
  });

  addEventListener("popstate", ask);

  // ---- After the server has rendered

  // A field that somebody has touched no longer follows its attributes.
  function settle() {
    for (const field of document.querySelectorAll("form.controls [data-chosen]")) {
      const chosen = field.dataset.chosen;
      if (field.type === "checkbox") field.checked = chosen === "yes";
      else if (field.type !== "search" || field !== document.activeElement) field.value = chosen;
    }
  }

  // What the board does not have was left out, or something was chosen for us: the address says so from now on.
  function follow() {
    const address = document.querySelector("#frame header")?.dataset.address;
    if (!address || address === location.search) return;
    const framed = Object.entries(params(location.search)).filter(([name]) => name.startsWith("__"));
    const others = framed.length ? `&${new URLSearchParams(framed)}` : "";
    history.replaceState(null, "", address + others);
    tellFrame();
  }

  function shown() {
    askedAt = -Infinity;
    if (again) return ask();
    delete document.body.dataset.busy;
    follow();
    document.body.dataset.shown = location.search;
    settle();
    const tab = document.querySelector(".tabs [aria-current]");
    if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - 60; // a phone has no room for all
    const query = { ...params(location.search), tab: tab?.dataset.tab };
    const before = rendered;
    rendered = query;
    const heading = document.querySelector("#details h2");
    if (query.row && query.row !== before.row) heading?.focus();
    if (!query.row && before.row) document.querySelector(`a[data-row="${CSS.escape(before.row)}"]`)?.focus();
    if (query.thread && query.thread !== before.thread) document.querySelector("#thread")?.scrollIntoView({ block: "nearest" });
    else if (before.tab && query.tab !== before.tab) scrollTo(0, 0);
  }

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const close = document.querySelector("#details a.close");
    if (close) go(close.getAttribute("href"));
  });

  // A point of a plot that stands for a thread opens it.
  function followPoints(plot) {
    if (plot.dataset.follows) return;
    plot.dataset.follows = "";
    plot.on?.("plotly_click", (event) => {
      const thread = event.points[0]?.customdata?.[0];
      const { compare } = params(location.search);
      // Plotly may tell of one click twice; the second time the page is elsewhere.
      if (typeof thread === "string" && compare) go(`?tab=threads&thread=${encodeURIComponent(thread)}&systems=${compare}`);
    });
  }
  new MutationObserver(() => document.querySelectorAll("#plot-compare .js-plotly-plot").forEach(followPoints)).observe(
    document.documentElement,
    { childList: true, subtree: true },
  );

  // ---- Files, made of what the server says

  function save(name, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-save]");
    if (!button) return;
    button.disabled = true;
    try {
      const file = await server.file({ what: button.dataset.save, address: params(location.search) });
      if (file.error) alert(file.error);
      else save(file.name, file.text);
    } finally {
      button.disabled = false;
    }
  });

  return {
    // Called by the one component that the page is asked for.
    attach(element, trigger, functions) {
      send = trigger;
      server = functions;
    },
    shown,
    // Called when a submission was judged.
    judged: () => document.querySelector(".result")?.scrollIntoView({ block: "nearest", behavior: "smooth" }),
  };
})();
