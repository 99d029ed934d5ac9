// The URL is the state of the page. A link or a field changes the URL, and the server renders the new state.
// Going back renders the state before.
window.space = (() => {
  let send = null;
  let server = null;
  let rendered = {};
  // One request at a time, so that an early request is never shown last. The load of the page is the first one.
  let requestedAt = performance.now();
  let again = false;
  const patience = 20_000; // ms, after which a request counts as lost

  const params = (search) => Object.fromEntries(new URLSearchParams(search));

  function request() {
    document.body.dataset.busy = "";
    again = performance.now() - requestedAt < patience;
    if (again) return;
    requestedAt = performance.now();
    send("input", params(location.search));
  }

  function go(search, { replace = false } = {}) {
    const address = new URL(search.replaceAll("%2C", ",").replaceAll("%40", "@"), location.href);
    if (address.search === location.search) return;
    history[replace ? "replaceState" : "pushState"](null, "", address);
    updateHubUrl();
    request();
  }

  // A Space is shown in a frame of the Hub. The message changes the URL of the Hub's page too.
  function updateHubUrl() {
    if (parent === window) return;
    const own = Object.entries(params(location.search)).filter(([name]) => !name.startsWith("__"));
    parent.postMessage({ queryString: new URLSearchParams(own).toString() }, "https://huggingface.co");
  }

  // ---- Links within the page, opened in place. With a modifier key they open like any other link.

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-go]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(link.getAttribute("href"));
  });

  // ---- Fields: a list or a check box acts at once, a text after a pause in typing.

  let typing;
  function fieldsOf(form) {
    const address = new URL(location.href);
    address.searchParams.delete("page"); // another selection starts at its first page
    for (const field of form.elements) {
      if (!field.name) continue;
      const value = field.type === "checkbox" ? (field.checked ? "yes" : "no") : field.value;
      if (field.dataset.join) continue;
      if (value === "" || value === field.dataset.standard) address.searchParams.delete(field.name);
      else address.searchParams.set(field.name, value);
    }
    const joined = [...form.querySelectorAll("[data-join]")];
    if (joined.length) {
      const chosen = joined.filter((field) => field.type !== "checkbox" || field.checked).map((field) => field.value);
      if (chosen.length) address.searchParams.set(joined[0].dataset.join, chosen.join(","));
      else address.searchParams.delete(joined[0].dataset.join);
    }
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

  addEventListener("popstate", request);

  // ---- After the server has rendered

  // A field that the user has changed no longer follows its attributes.
  function updateFields() {
    for (const field of document.querySelectorAll("form.controls [data-chosen]")) {
      const chosen = field.dataset.chosen;
      if (field.type === "checkbox") field.checked = chosen === "yes";
      else if (field.type !== "search" || field !== document.activeElement) field.value = chosen;
    }
  }

  // The server left out unknown values or chose a standard comparison, so the URL changes to the state that is shown.
  function updateUrl() {
    const address = document.querySelector("#frame header")?.dataset.address;
    if (!address || address === location.search) return;
    const framed = Object.entries(params(location.search)).filter(([name]) => name.startsWith("__"));
    const others = framed.length ? `&${new URLSearchParams(framed)}` : "";
    history.replaceState(null, "", address + others);
    updateHubUrl();
  }

  function shown() {
    requestedAt = -Infinity;
    if (again) return request();
    delete document.body.dataset.busy;
    updateUrl();
    document.body.dataset.shown = location.search;
    updateFields();
    const tab = document.querySelector(".tabs [aria-current]");
    if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - 60; // a phone cannot show all tabs at once
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

  // A click on a point of the plot opens its thread.
  function openThreads(plot) {
    if (plot.dataset.opensThreads) return;
    plot.dataset.opensThreads = "";
    plot.on?.("plotly_click", (event) => {
      const thread = event.points[0]?.customdata?.[0];
      const { compare, data } = params(location.search);
      const version = data ? `&data=${encodeURIComponent(data)}` : "";
      // Plotly may report one click twice. At the second time the page has another state.
      if (typeof thread === "string" && compare) go(`?tab=threads&thread=${encodeURIComponent(thread)}&systems=${compare}${version}`);
    });
  }
  new MutationObserver(() => document.querySelectorAll("#plot-compare .js-plotly-plot").forEach(openThreads)).observe(
    document.documentElement,
    { childList: true, subtree: true },
  );

  // ---- Downloads

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
    // Called by the component of the header, which sends the requests.
    attach(element, trigger, functions) {
      send = trigger;
      server = functions;
    },
    shown,
    // Called after a submission was checked.
    judged: () => document.querySelector(".result")?.scrollIntoView({ block: "nearest", behavior: "smooth" }),
  };
})();
