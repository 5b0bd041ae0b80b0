// Keeps the page as it would be if it were loaded again. The server says only that something changed; what is shown
// always comes from the server's own HTML, in which every text is escaped.
"use strict";

(() => {
  const body = document.body;
  const link = document.getElementById("link");
  const linkText = document.getElementById("link-text");
  const said = document.getElementById("said");
  const PAUSE = 1000; // milliseconds between two looks at least, and ten times what a look takes
  const IDLE = 60000; // after so long without an event we look anyway, as times grow old
  let shown = body.dataset.version;
  let wanted = shown;
  let looking = false;
  let last = Date.now();
  let pause = PAUSE;
  let timer = 0;
  let spoken = sayings();

  function sayings() {
    return [...document.querySelectorAll("[data-say]")].map((part) => part.dataset.say).join(" ");
  }

  function state(name, text) {
    link.hidden = false;
    link.className = `link ${name}`;
    linkText.textContent = text;
  }

  // Replaces the parts that differ, and leaves the reader where they were.
  function take(next) {
    for (const part of document.querySelectorAll("[data-live]")) {
      const fresh = next.getElementById(part.id);
      if (!fresh) continue;
      const html = fresh.outerHTML;
      if (part.outerHTML !== html) {
        const held = part.contains(document.activeElement) ? document.activeElement : null;
        const href = held && held.getAttribute("href");
        const open = [...part.querySelectorAll("details[open]")].map((details) => details.id);
        const scrolled = [...part.querySelectorAll("[tabindex='0']")].map((box) => [box.scrollLeft, box.scrollTop]);
        const put = document.importNode(fresh, true);
        part.replaceWith(put);
        open.forEach((id) => { const details = document.getElementById(id); if (details) details.open = true; });
        put.querySelectorAll("[tabindex='0']").forEach((box, at) => {
          if (scrolled[at]) [box.scrollLeft, box.scrollTop] = scrolled[at];
        });
        if (href) {
          const again = [...put.querySelectorAll("a[href]")].find((a) => a.getAttribute("href") === href);
          if (again) again.focus({ preventScroll: true });
        }
      }
    }
    document.title = next.title;
    const words = sayings();
    if (words !== spoken) said.textContent = spoken = words;
  }

  async function look() {
    timer = 0;
    if (looking || document.hidden) return;
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
        state("off", answer.status === 401 || answer.status === 403 ? "signed out" : "not live");
      }
    } catch {
      state("off", "not reachable");
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
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (!document.hidden) listen(); }, 10000);
    });
  }

  // Pages that nobody sees hold no connection: a browser has six for each server.
  function leave() {
    if (source) source.close();
    source = null;
  }

  listen();
  setInterval(() => { if (Date.now() - last > IDLE) soon(); }, 5000);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return leave();
    listen();
    soon();
  });
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => { if (event.persisted) { listen(); soon(); } });
})();
