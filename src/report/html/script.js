// Values of bars, squares and cells: on hover, on touch, and with the arrow keys. Tables of groups can be sorted.
// The page is complete without: each bar and square has a title, and cells have their values in tables.
(() => {
  "use strict";
  const number = (cell) => {
    const found = cell.textContent.replace(/[,\u202f]/g, "").replace("−", "-").match(/-?\d+(\.\d+)?/);
    return found ? parseFloat(found[0]) : NaN;
  };
  const percent = (share) => {
    if (share === 0 || share === 100) return share + "\u00a0%";
    if (share < 0.001) return "< 0.001\u00a0%";
    if (share >= 99.95) return "> 99.9\u00a0%";
    return share.toFixed(share < 0.1 ? 3 : 1) + "\u00a0%";
  };

  const texts = new Map();
  // Joint distributions have one path for each colour; the values of their cells are in the table of their numbers.
  for (const drawing of document.querySelectorAll("svg[data-whole]")) {
    const cells = drawing.querySelector(".cells");
    const table = drawing.closest("figure").querySelector("table");
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    [...table.tBodies[0].rows].forEach((row, y) => {
      const [head, ...counts] = row.cells;
      const sum = counts.reduce((sum, cell) => sum + number(cell), 0);
      counts.forEach((cell, x) => {
        const count = number(cell);
        if (!count) return;
        const of = drawing.dataset.whole;
        const share = of === "row" ? percent(count / sum * 100) + " of the row" : percent(count / of * 100);
        const mark = document.createElementNS(drawing.namespaceURI, "rect");
        for (const [name, value] of Object.entries({ class: "h", x, y, width: 1, height: 1 })) mark.setAttribute(name, value);
        cells.append(mark);
        texts.set(mark, `${head.textContent} × ${names[x + 1]}: ${cell.textContent} (${share})`);
      });
    });
  }
  for (const title of document.querySelectorAll("svg title")) {
    texts.set(title.parentNode, title.textContent);
  }
  for (const mark of texts.keys()) mark.querySelector("title")?.remove();

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  document.body.append(tip);

  let current = null;
  const hide = () => {
    if (current) current.classList.remove("on");
    current = null;
    tip.textContent = "";
  };
  const show = (mark) => {
    hide();
    current = mark;
    mark.classList.add("on");
    tip.textContent = texts.get(mark);
    const box = mark.getBoundingClientRect();
    const left = box.left + (box.width - tip.offsetWidth) / 2;
    const above = box.top - tip.offsetHeight - 6;
    tip.style.left = Math.max(4, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 4)) + "px";
    tip.style.top = (above < 4 ? box.bottom + 6 : above) + "px";
  };
  const point = (event) => (texts.has(event.target) ? show(event.target) : hide());
  document.addEventListener("pointerover", point);
  document.addEventListener("pointerdown", point);
  document.addEventListener("scroll", hide, { passive: true, capture: true });

  // Tables of groups: a click on a heading sorts by that column, another one turns the order.
  for (const table of document.querySelectorAll(".sortable table")) {
    const heads = [...table.tHead.rows[0].cells];
    const sort = (head) => {
      const column = heads.indexOf(head);
      const down = head.getAttribute("aria-sort") !== "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].map((row) => [row, number(row.cells[column]), row.cells[column].textContent]);
      rows.sort(([, a, s], [, b, t]) => {
        const order = isNaN(a) || isNaN(b) ? isNaN(a) - isNaN(b) || t.localeCompare(s) : b - a;
        return down ? order : -order;
      });
      table.tBodies[0].append(...rows.map(([row]) => row));
    };
    for (const head of heads) {
      if (!head.textContent) continue;
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(head));
      head.addEventListener("keydown", (event) => event.key === "Enter" && sort(head));
    }
  }

  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const middle = (mark) => {
    const box = mark.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  for (const drawing of document.querySelectorAll("svg")) {
    const marks = [...drawing.querySelectorAll("rect")].filter((mark) => texts.has(mark));
    if (!marks.length) continue;
    drawing.tabIndex = 0;
    drawing.addEventListener("blur", hide);
    drawing.addEventListener("keydown", (event) => {
      if (event.key === "Escape") hide();
      const way = ways[event.key];
      if (!way) return;
      event.preventDefault();
      if (!marks.includes(current)) return show(marks[0]);
      // The nearest one in this direction; sideways counts more.
      const [x, y] = middle(current);
      let nearest = null, least = Infinity;
      for (const mark of marks) {
        const [u, v] = middle(mark);
        const along = (u - x) * way[0] + (v - y) * way[1];
        const across = Math.abs((u - x) * way[1]) + Math.abs((v - y) * way[0]);
        if (along > 0.5 && along + 4 * across < least) [nearest, least] = [mark, along + 4 * across];
      }
      if (nearest) show(nearest);
    });
  }
})();
