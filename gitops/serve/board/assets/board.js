// Keeps the page as it would be if it were loaded again. The server says only that something changed; what is shown
// always comes from the server's own HTML, in which every text is escaped.
"use strict";

(() => {
  const body = document.body;
  const link = document.getElementById("link");
  const linkText = document.getElementById("link-text");
  const said = document.getElementById("said");
  const hold = document.getElementById("hold");
  const PAUSE = 1000; // milliseconds between two looks at least, and ten times what a look takes
  const IDLE = 60000; // after so long without an event we look anyway, as times grow old
  let shown = body.dataset.version;
  let wanted = shown;
  let looking = false;
  let last = Date.now();
  let pause = PAUSE;
  let timer = 0;
  let paused = false;
  let spoken = sayings();

  function sayings() {
    return [...document.querySelectorAll("[data-say]")].flatMap((part) => part.dataset.say.split("\n"));
  }

  function state(name, text) {
    link.hidden = false;
    link.className = name;
    linkText.textContent = text;
  }

  // Said aloud as well: who does not see the mark would take an old page for a new one.
  function lost(text) {
    if (linkText.textContent !== text) said.textContent = `This page is no longer live: ${text}.`;
    state("off", text);
  }

  function nameOf(node) {
    return node.nodeType === Node.ELEMENT_NODE ? node.id || node.dataset.key || "" : "";
  }

  // Makes an element what it is to be, and touches nothing in it that is so already: with elements that stay, so do
  // focus, selection, a screen reader's place, what was scrolled and what was opened.
  function become(old, fresh) {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) {
      old.nodeValue = fresh.nodeValue;
      return;
    }
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    const wanted = [...fresh.childNodes];
    const names = new Set(wanted.map(nameOf));
    const named = new Map();
    for (const child of [...old.children]) {
      const name = nameOf(child);
      if (name && !names.has(name)) child.remove();
      else if (name) named.set(name, child);
    }
    let at = old.firstChild;
    for (const next of wanted) {
      const name = nameOf(next);
      const same = name ? named.get(name) : at && !nameOf(at) && at.nodeName === next.nodeName ? at : null;
      named.delete(name);
      if (!same || same.nodeName !== next.nodeName) {
        old.insertBefore(document.importNode(next, true), at);
        continue;
      }
      if (same === at) at = at.nextSibling;
      else old.insertBefore(same, at);
      become(same, next);
    }
    while (at) {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    }
  }

  function take(next) {
    const held = document.activeElement;
    const href = held && held.getAttribute("href");
    for (const part of document.querySelectorAll("[data-live]")) {
      const fresh = next.getElementById(part.id);
      if (fresh) become(part, fresh);
    }
    if (held && held !== document.activeElement) {  // it was moved, or stands elsewhere now
      const again = held.isConnected ? held : [...document.links].find((a) => a.getAttribute("href") === href);
      if (again) again.focus({ preventScroll: true });
    }
    document.title = next.title;
    const words = sayings();
    const news = words.filter((text) => !spoken.includes(text));
    if (news.length) said.textContent = news.join(" ");
    spoken = words;
  }

  async function look() {
    timer = 0;
    if (looking || paused || document.hidden) return;
    looking = true;
    last = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
      if (answer.ok) {
        const next = new DOMParser().parseFromString(await answer.text(), "text/html");
        shown = next.body.dataset.version;
        take(next);
        if (source && source.readyState === EventSource.OPEN) state("on", "live");
      } else {
        lost(answer.status === 401 || answer.status === 403 ? "signed out" : "not live");
      }
    } catch {
      lost("not reachable");
    } finally {
      looking = false;
      pause = Math.max(PAUSE, 10 * (Date.now() - last));
      if (wanted !== shown && Number(wanted) > Number(shown)) soon();
    }
  }

  function soon() {
    if (!timer) timer = setTimeout(look, Math.max(0, last + pause - Date.now()));
  }

  let source = null;

  function listen() {
    if (source) source.close();
    source = new EventSource(body.dataset.events);
    source.addEventListener("open", () => state("on", "live"));
    source.addEventListener("version", (event) => {
      wanted = event.data;
      if (wanted !== shown) soon();
    });
    source.addEventListener("error", (event) => {
      if (event.target !== source) return;
      state("off", "reconnecting");
      // A browser gives up on a refusal; we do not.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (source && !document.hidden) listen(); }, 10000);
    });
  }

  // Pages that nobody sees hold no connection: a browser has six for each server.
  function leave() {
    if (source) source.close();
    source = null;
  }

  hold.hidden = false;
  hold.addEventListener("click", () => {
    paused = !paused;
    hold.textContent = paused ? "Go on" : "Pause";
    if (paused) {
      leave();
      state("off", "paused");
    } else {
      listen();
      soon();
    }
  });

  listen();
  setInterval(() => { if (Date.now() - last > IDLE) soon(); }, 5000);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return leave();
    if (paused) return;
    listen();
    soon();
  });
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => { if (event.persisted && !paused) { listen(); soon(); } });
})();
