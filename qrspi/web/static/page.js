"use strict";
// One file for two places: in a shared worker it holds the one stream of events that all tabs of a
// browser use (a browser opens six connections to a host, and each stream would take one).
const SILENCE = 16000; // ms; a server that lives says so every five seconds
const PATIENCE = 30000; // ms for a page
if (typeof document === "undefined") worker(); else page();

// The stream, for as long as somebody wants it: `tell` is given each change, each loss and each beat.
function listen(tell) {
  let heard = Date.now();
  const stream = new EventSource("/events");
  const again = () => {
    clearInterval(watch);
    stream.close();
    tell({ kind: "lost" });
    setTimeout(() => listen(tell), 1000);
  };
  const on = (kind, message) => stream.addEventListener(kind, (event) => {
    heard = Date.now();
    tell(message(event));
  });
  on("beat", () => ({ kind: "beat" }));
  on("change", (event) => ({ kind: "change", seen: +event.lastEventId, ...JSON.parse(event.data) }));
  stream.onerror = again;
  // A server that stands still, or a machine that slept, closes nothing: only the silence tells.
  const watch = setInterval(() => { if (Date.now() - heard > SILENCE) again(); }, 2000);
}

function worker() {
  const ports = new Set();
  let state = "", seen = 0;
  listen((message) => {
    state = message.kind === "lost" ? "lost" : "here";
    seen = message.seen || seen;
    ports.forEach((port) => port.postMessage(message));
  });
  self.onconnect = (event) => {
    const port = event.ports[0];
    ports.add(port);
    port.onmessage = (message) => { if (message.data === "bye") ports.delete(port); };
    if (state) port.postMessage({ kind: state, seen });
  };
}

function page() {
  const $ = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.dataset.ours = "";
    made.append(...children);
    return made;
  };

  // --- what changes elsewhere -------------------------------------------------------------------

  const banner = $("#banner");
  const typed = new Set(); // fields that somebody has written in
  let busy = false, again = false, stale = false, word = 0;

  const say = (text) => {
    if (banner.textContent !== text) banner.textContent = text;
    banner.hidden = !text;
  };

  function heard(message) {
    word = Date.now();
    if (message.kind === "lost") {
      say("The connection is lost. This page shows what it knew; it comes back by itself.");
      refresh(); // tells a server that is gone from one that does not know us any more
    } else if (!banner.hidden || isNews(message, document.body.dataset)) refresh();
  }

  function isNews(message, { run, seen }) {
    if (message.kind === "here") return message.seen > +seen; // it was drawn before we listened
    return message.kind === "change" && (message.everything || !run || message.runs.includes(run));
  }

  async function refresh() {
    if (document.hidden) { stale = true; return; }
    if (busy) { again = true; return; }
    busy = true;
    try {
      const shown = await fetch(location.href, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(PATIENCE) });
      if (shown.status === 401) {
        say("qrspi ui was started again: open the new address that it has printed.");
      } else {
        const text = await shown.text();
        say("");
        // What a form was answered with is not what its address shows.
        if (!("answer" in document.body.dataset)) take(new DOMParser().parseFromString(text, "text/html"));
      }
    } catch { /* the stream says when it is back */ }
    busy = false;
    if (again) { again = false; refresh(); }
  }

  function take(next) {
    const focused = document.activeElement, key = focused.closest("[data-key]")?.dataset.key;
    document.title = next.title;
    for (const part of [".top", "main"]) {
      const here = $(part), there = $(part, next);
      if (here && there) morph(here, there);
    }
    if (focused !== document.activeElement && focused !== document.body) {
      const moved = key && $(`[data-key="${CSS.escape(key)}"]`); // as a run that is in another group now
      const place = focused.isConnected ? focused : (moved && $("h2 a, h3 a", moved)) || $("#main");
      place.focus({ preventScroll: true });
    }
    dress();
  }

  // --- one tree into another, keeping whatever can be kept --------------------------------------

  const keyOf = (node) => (node.nodeType === 1 ? node.dataset.key || node.id : "");
  const isOurs = (node) => node.nodeType === 1 && "ours" in node.dataset;

  function morph(here, there) {
    if (here.nodeType !== 1) {
      if (here.nodeValue !== there.nodeValue) here.nodeValue = there.nodeValue;
      return;
    }
    attributes(here, there);
    if (here.matches("textarea")) return;
    const left = [...here.childNodes].filter((node) => !isOurs(node));
    const keyed = new Map(left.filter(keyOf).map((node) => [node.nodeName + keyOf(node), node]));
    for (const wanted of [...there.childNodes]) {
      const key = keyOf(wanted);
      const found = key ? keyed.get(wanted.nodeName + key)
        : left.find((node) => !keyOf(node) && node.nodeName === wanted.nodeName);
      if (found && left.includes(found)) {
        if (found !== left[0]) here.insertBefore(found, left[0]);
        left.splice(left.indexOf(found), 1);
        morph(found, wanted);
      } else {
        const fresh = document.importNode(wanted, true);
        if (fresh.nodeType === 1) fresh.classList.add("fresh");
        here.insertBefore(fresh, left[0] || null);
      }
    }
    left.forEach(leave);
  }

  // What somebody has begun to write is not thrown away with the form it was meant for.
  function leave(node) {
    if (node.nodeType === 1) {
      all(".kept-text", node).forEach((kept) => node.before(kept));
      for (const field of typed) if (node.contains(field)) {
        typed.delete(field);
        if (field.value.trim()) node.before(kept(field.value));
      }
    }
    node.remove();
  }

  const kept = (text) => make("div", { className: "kept-text" },
    make("p", { textContent: "This is no longer asked. You had written:" }),
    make("span", { className: "cmd" }, make("code", { textContent: text })));

  function attributes(here, there) {
    const stays = (name) => (here.matches("details, dialog") && name === "open") ||
      (here.matches("input:not([type=hidden]), textarea") && (name === "value" || name === "checked"));
    for (const { name, value } of [...there.attributes]) {
      if (!stays(name) && here.getAttribute(name) !== value) here.setAttribute(name, value);
    }
    for (const { name } of [...here.attributes]) {
      if (!there.hasAttribute(name) && !stays(name)) here.removeAttribute(name);
    }
  }

  // --- what only a script can do ----------------------------------------------------------------

  function dress() {
    for (const place of all(".cmd")) {
      if ($(".copy", place)) continue;
      const button = make("button", { type: "button", className: "copy", textContent: "copy" });
      button.setAttribute("aria-label", "Copy " + place.textContent.trim());
      place.append(button);
    }
    mark();
    choose();
  }

  // How many answers of a batch are chosen so far.
  function choose() {
    const form = $("#batch");
    if (!form) return;
    const chosen = all("input[form=batch]:checked").filter((one) => one.value).length;
    let place = $(".picked", form);
    if (!place) {
      place = make("strong", { className: "picked" });
      place.setAttribute("role", "status");
      $("span", form).append(place);
    }
    place.textContent = chosen ? `${chosen} chosen.` : "";
  }

  function copy(button) {
    navigator.clipboard.writeText($("code", button.parentElement).textContent).then(() => {
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1200);
    });
  }

  // --- comments on lines ------------------------------------------------------------------------

  const lines = () => $("form.comment input[name=key]");

  function mark() {
    const field = lines();
    const [first, last] = field && field.validity.valid ? field.value.replaceAll("L", "").split("-").map(Number) : [0, 0];
    for (const block of all(".block")) {
      const chosen = first && block.id.startsWith("L") && +block.dataset.line <= (last || first) && +block.dataset.last >= first;
      block.classList.toggle("chosen", Boolean(chosen));
    }
  }

  function comment(first, last) {
    const field = lines();
    if (!field) return;
    field.value = "L" + first + (last > first ? "-L" + last : "");
    typed.add(field);
    field.closest("details").open = true;
    mark();
    $("textarea", field.form).focus({ preventScroll: true });
    field.closest(".gate").scrollTo(0, 1e6); // it is the last of the answers; the page stays where it is
  }

  // The line that a place in the text belongs to: the last one that begins before it.
  function lineAt(node, offset) {
    const shelf = (node.nodeType === 1 ? node : node.parentElement).closest(".shelf");
    if (!shelf || shelf !== $(".shelf")) return 0; // comments are about the step's own text
    const point = document.createRange();
    point.setStart(node, offset);
    let line = 0;
    for (const one of all("[data-line]", shelf)) {
      if (point.comparePoint(one, 0) <= 0) line = +one.dataset.line;
    }
    return line;
  }

  function commentSelected() {
    const selected = getSelection();
    if (selected.rangeCount && !selected.isCollapsed) {
      const range = selected.getRangeAt(0);
      const first = lineAt(range.startContainer, range.startOffset);
      if (first) return comment(first, lineAt(range.endContainer, range.endOffset));
    }
    const block = document.activeElement.closest(".block");
    if (block && block.id.startsWith("L")) comment(+block.dataset.line, +block.dataset.last);
  }

  // A comment is sent without leaving the page: whoever reads on has not lost the place.
  async function send(form) {
    try {
      const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (!answer.ok) throw new Error(await answer.text());
      form.reset();
      all("input, textarea", form).forEach((field) => typed.delete(field));
      form.closest("details").open = false;
      refresh();
    } catch {
      form.dataset.native = "";
      form.requestSubmit(); // shows what is wrong
    }
  }

  // --- events -----------------------------------------------------------------------------------

  let typing = 0;
  addEventListener("input", ({ target }) => {
    if (target.matches("textarea, input[type=text]")) typed.add(target);
    if (target === lines()) mark();
    if (target.id !== "q") return;
    clearTimeout(typing);
    typing = setTimeout(() => {
      const address = new URL("/", location.href);
      if (target.value) address.searchParams.set("q", target.value);
      history.replaceState(null, "", address);
      refresh();
    }, 150);
  });

  addEventListener("change", ({ target }) => { if (target.matches("[form=batch]")) choose(); });

  addEventListener("click", (event) => {
    const { target } = event;
    if (target.closest(".copy")) copy(target.closest(".copy"));
    const block = target.closest(".line") && lines() && target.closest(".block");
    if (block && event.shiftKey && block.id.startsWith("L")) {
      event.preventDefault();
      const first = parseInt(lines().value.slice(1)) || +block.dataset.line;
      comment(Math.min(first, +block.dataset.line), Math.max(first, +block.dataset.last));
    } else if (block && block.id.startsWith("L") && !event.ctrlKey && !event.metaKey) {
      // Going to the line takes the focus away: it is given afterwards.
      setTimeout(() => comment(+block.dataset.line, +block.dataset.last));
    }
  });

  // A button that was pressed once does its work once.
  addEventListener("submit", (event) => {
    const form = event.target;
    const first = !("sent" in form.dataset);
    form.dataset.sent = "";
    setTimeout(() => { delete form.dataset.sent; }, 4000);
    if (!first && !("native" in form.dataset)) return event.preventDefault();
    if (form.matches(".comment") && !("native" in form.dataset)) {
      event.preventDefault();
      send(form);
    }
  });

  const KEYS = {
    "?": () => $("#keys").showModal(),
    j: () => step(1),
    k: () => step(-1),
    c: commentSelected,
    a: () => [".gate", ".answers", ".act"].map((place) => $(place + " :is(button, summary, a)")).find(Boolean)?.focus(),
    gi: () => { location.href = "/inbox"; },
    gh: () => { location.href = "/"; },
  };
  let before = "";
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")) return;
    const work = KEYS[before + event.key] || KEYS[event.key];
    before = event.key === "g" ? "g" : "";
    if (work) { event.preventDefault(); work(); }
  });

  function step(by) {
    const stops = all("[data-stop], .block");
    if (!stops.length) return;
    const now = stops.findIndex((one) => one.contains(document.activeElement));
    const next = stops[Math.min(Math.max(now + by, 0), stops.length - 1)];
    ($("h2 a, h3 a, .line", next) || next).focus();
    next.scrollIntoView({ block: "nearest" });
  }

  addEventListener("visibilitychange", () => { if (!document.hidden && stale) { stale = false; refresh(); } });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  function connect() {
    word = Date.now();
    if (typeof SharedWorker !== "function") return listen(heard);
    const { port } = new SharedWorker("/page.js");
    const bye = () => port.postMessage("bye");
    port.onmessage = (event) => heard(event.data);
    addEventListener("pagehide", bye);
    // A worker whose script never came says nothing either.
    const watch = setInterval(() => {
      if (Date.now() - word < SILENCE + 4000) return;
      clearInterval(watch);
      removeEventListener("pagehide", bye);
      bye();
      port.close();
      heard({ kind: "lost" });
      connect();
    }, 2000);
  }

  dress();
  connect();
}
