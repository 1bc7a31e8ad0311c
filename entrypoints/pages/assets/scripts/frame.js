// What the frame of the consoles adds where scripts run: groups of sections stay folded, the present section is in view,
// the way to a page leads back to a list as it was filtered, also after a form, a menu closes when its reader is done with
// it, and the search opens on a narrow screen.
"use strict";

(() => {
  const KEPT = "gatehouse.folded";
  const sections = document.getElementById("sections");

  // A browser may refuse to keep anything; then what is folded lasts as long as the page.
  const kept = () => {
    try {
      return new Set(JSON.parse(localStorage.getItem(KEPT) ?? "[]"));
    } catch {
      return new Set();
    }
  };
  for (const group of sections?.querySelectorAll(".section-group") ?? []) {
    const name = `${location.pathname.split("/")[2]} ${group.firstElementChild.textContent}`;
    group.open = group.querySelector("[aria-current]") !== null || !kept().has(name);
    group.firstElementChild.addEventListener("click", () => {
      const folded = kept();
      folded[group.open ? "add" : "delete"](name);
      try {
        localStorage.setItem(KEPT, JSON.stringify([...folded]));
      } catch {
        // It is not kept.
      }
    });
  }
  const current = sections?.querySelector("[aria-current]");
  if (current && current.checkVisibility() && current.offsetTop > sections.clientHeight) {
    sections.scrollTop = current.offsetTop - sections.clientHeight / 2;
  }

  // The server knows the filters of a list on the page that follows it; this tab knows them until the list is opened without.
  // What was just done is not said again.
  const query = new URLSearchParams(location.search);
  const isDone = query.has("done");
  query.delete("done");
  const FILTERED = "gatehouse.filtered ";
  try {
    if (query.size > 0) {
      sessionStorage.setItem(FILTERED + location.pathname, query);
    } else if (!isDone) {
      sessionStorage.removeItem(FILTERED + location.pathname);
    }
    for (const link of document.querySelectorAll(".crumbs a")) {
      link.search ||= sessionStorage.getItem(FILTERED + link.pathname) ?? "";
    }
  } catch {
    // Then the link leads to the whole list.
  }

  // What a bar counts stands above its plot while it is pointed at or has the focus.
  for (const plot of document.querySelectorAll(".plot-frame")) {
    const place = plot.querySelector("[data-value]");
    const unit = place?.textContent;
    const tell = (event) => {
      const title = event.type === "focusout" || event.type === "mouseleave"
        ? undefined
        : event.target.closest?.("a, g")?.querySelector("title")?.textContent;
      place.textContent = title ?? unit;
      place.classList.toggle("is-value", title !== undefined);
    };
    for (const type of place ? ["mouseover", "mouseleave", "focusin", "focusout"] : []) {
      plot.addEventListener(type, tell);
    }
  }

  const menus = document.querySelectorAll("details.menu");
  document.addEventListener("click", (event) => {
    for (const menu of menus) {
      if (menu.open && !menu.contains(event.target)) {
        menu.open = false;
      }
    }
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" ? document.activeElement?.closest("details.menu[open]") : null;
    if (menu) {
      menu.open = false;
      menu.firstElementChild.focus();
    }
  });
})();
