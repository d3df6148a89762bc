"use strict";
// One file for two places: in a shared worker it holds the one stream of events that all tabs of a
// browser use (a browser opens six connections to a host, and each stream would take one).
if (typeof document === "undefined") worker(); else page();

function worker() {
  const ports = new Set();
  let stream = null, open = false;
  const tell = (message) => ports.forEach((port) => port.postMessage(message));
  const listen = () => {
    stream = new EventSource("/events");
    stream.addEventListener("change", (event) => {
      open = true;
      tell({ kind: "change", ...JSON.parse(event.data) });
    });
    stream.onerror = () => {
      open = false;
      tell({ kind: "lost" });
      if (stream.readyState === 2) setTimeout(listen, 2000); // refused: the server is another one
    };
  };
  self.onconnect = (event) => {
    const port = event.ports[0];
    ports.add(port);
    port.onmessage = (message) => { if (message.data === "bye") ports.delete(port); };
    if (!stream) listen();
    else port.postMessage(open ? { kind: "here" } : { kind: "lost" });
  };
}

function page() {
  const banner = document.getElementById("banner");
  let busy = false, again = false, stale = false, lost = false;
  const dirty = new Set(); // fields that somebody has typed in

  const say = (text) => { banner.hidden = !text; if (banner.textContent !== text) banner.textContent = text; };

  function heard(message) {
    if (message.kind === "lost") {
      lost = true;
      say("The connection is lost. This page shows what it knew; it comes back by itself.");
      refresh(); // tells a server that is gone from one that does not know us any more
      return;
    }
    if (message.kind === "change") {
      const mine = document.body.dataset.run;
      const concerns = message.everything || !mine || message.runs.includes(mine);
      if (lost || concerns) refresh();
    }
  }

  async function refresh() {
    if (document.hidden) { stale = true; return; }
    if (busy) { again = true; return; }
    busy = true;
    try {
      const shown = await fetch(location.href, { credentials: "same-origin", headers: { Accept: "text/html" } });
      if (shown.status === 401) {
        say("qrspi ui was started again: open the new address that it has printed.");
      } else {
        const next = new DOMParser().parseFromString(await shown.text(), "text/html");
        lost = false;
        say("");
        // What a form was answered with is not what its address shows.
        if (document.body.dataset.answered === undefined) take(next);
      }
    } catch { /* the stream says when it is back */ }
    busy = false;
    if (again) { again = false; refresh(); }
  }

  function take(next) {
    document.title = next.title;
    for (const part of [".top", "main"]) {
      const here = document.querySelector(part), there = next.querySelector(part);
      if (here && there) morph(here, there);
    }
    dress(document);
  }

  const keyOf = (node) => (node.nodeType === 1 ? node.dataset.key || node.id || "" : "");
  const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

  function morph(here, there) {
    if (here.nodeType !== 1) {
      if (here.nodeValue !== there.nodeValue) here.nodeValue = there.nodeValue;
      return;
    }
    attributes(here, there);
    if (here.matches("textarea") && dirty.has(here)) return;
    const old = [...here.childNodes].filter((node) => !node.dataset?.ours);
    let at = 0;
    for (const wanted of [...there.childNodes]) {
      let found = at;
      while (found < old.length && !alike(old[found], wanted)) found++;
      const keyed = keyOf(wanted) || (old[at] && keyOf(old[at]));
      if (found < old.length && (found === at || keyed || !hasKeys(old, at, found))) {
        for (; at < found; at++) leave(old[at]);
        morph(old[at++], wanted);
      } else {
        const fresh = document.importNode(wanted, true);
        if (fresh.nodeType === 1) fresh.classList.add("fresh");
        here.insertBefore(fresh, old[at] || null);
      }
    }
    for (; at < old.length; at++) leave(old[at]);
  }

  const hasKeys = (nodes, from, to) => nodes.slice(from, to).some((node) => keyOf(node));

  // What somebody has begun to write is not thrown away with the form it was meant for.
  function leave(node) {
    const typed = node.nodeType === 1 ? [...dirty].filter((field) => node.contains(field) && field.value) : [];
    for (const field of typed) {
      const kept = document.createElement("div");
      kept.className = "kept-text";
      kept.dataset.ours = "kept";
      kept.textContent = "This is no longer asked. You had written: " + field.value;
      node.before(kept);
      dirty.delete(field);
    }
    node.remove();
  }

  function attributes(here, there) {
    const mine = (name) => (here.matches("details, dialog") && name === "open") ||
      (here.matches("input, textarea, select") && (name === "value" || name === "checked") && here.type !== "hidden");
    for (const { name, value } of [...there.attributes]) {
      if (!mine(name) && here.getAttribute(name) !== value) here.setAttribute(name, value);
    }
    for (const { name } of [...here.attributes]) {
      if (!there.hasAttribute(name) && !mine(name)) here.removeAttribute(name);
    }
  }

  function dress(root) {
    for (const place of root.querySelectorAll(".cmd")) {
      if (place.querySelector(".copy")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.dataset.ours = "copy";
      button.textContent = "copy";
      button.setAttribute("aria-label", "Copy " + place.textContent.trim());
      place.append(button);
    }
  }

  addEventListener("input", (event) => {
    if (event.target.matches("textarea, input[type=text]")) dirty.add(event.target);
    if (event.target.id === "q") {
      clearTimeout(page.typing);
      page.typing = setTimeout(() => {
        const address = new URL("/", location.href);
        if (event.target.value) address.searchParams.set("q", event.target.value);
        history.replaceState(null, "", address);
        refresh();
      }, 150);
    }
  });

  addEventListener("click", (event) => {
    const copy = event.target.closest(".copy");
    if (copy) {
      navigator.clipboard.writeText(copy.parentElement.querySelector("code").textContent).then(() => {
        copy.textContent = "copied";
        setTimeout(() => { copy.textContent = "copy"; }, 1200);
      });
    }
    const line = event.target.closest(".line");
    const lines = document.querySelector("#comment input[name=key]");
    if (line && lines) {
      const block = line.closest(".block");
      const first = event.shiftKey && lines.value ? lines.value.split("-")[0] : "L" + block.dataset.first;
      lines.value = first + (first === "L" + block.dataset.last ? "" : "-L" + block.dataset.last);
      dirty.add(lines);
    }
  });

  // A button that was pressed once does its work once.
  addEventListener("submit", (event) => {
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "yes";
    setTimeout(() => delete event.target.dataset.sent, 4000);
  });

  let before = "";
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, textarea, select")) return;
    const key = event.key;
    if (key === "?") document.getElementById("keys").showModal();
    else if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
    else if (before === "g" && key === "i") location.href = "/inbox";
    else if (before === "g" && key === "h") location.href = "/";
    before = key;
  });

  function step(by) {
    const stops = [...document.querySelectorAll("[data-stop], .block")];
    if (!stops.length) return;
    const now = stops.findIndex((one) => one.contains(document.activeElement));
    const next = stops[Math.min(Math.max(now + by, 0), stops.length - 1)];
    const target = next.querySelector("h2 a, h3 a, .line") || next;
    target.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  addEventListener("visibilitychange", () => { if (!document.hidden && stale) { stale = false; refresh(); } });

  function connect() {
    if (typeof SharedWorker === "function") {
      const shared = new SharedWorker("/page.js");
      shared.port.onmessage = (event) => heard(event.data);
      shared.port.start();
      addEventListener("pagehide", () => shared.port.postMessage("bye"));
      addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
      return;
    }
    const stream = new EventSource("/events");
    stream.addEventListener("change", (event) => heard({ kind: "change", ...JSON.parse(event.data) }));
    stream.onerror = () => heard({ kind: "lost" });
  }

  dress(document);
  connect();
}
