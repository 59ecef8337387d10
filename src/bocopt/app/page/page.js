"use strict";
// Charts: the row of the table that is nearest to the pointer is shown in the legend.
const liven = (chart) => {
  const canvas = chart.querySelector(".canvas");
  const cursor = chart.querySelector(".cursor");
  const rows = [...chart.querySelectorAll("tbody tr")];
  const shown = [...chart.querySelectorAll("[data-column]")];
  const last = rows.length - 1;
  const bars = "bars" in chart.dataset;
  let at = last;

  const show = (row, marked) => {
    at = Math.min(Math.max(row, 0), last);
    for (const value of shown) value.textContent = rows[at].cells[value.dataset.column].textContent;
    cursor.hidden = !marked;
    cursor.style.left = `${bars ? (100 * (at + 0.5)) / rows.length : last ? (100 * at) / last : 50}%`;
    canvas.setAttribute("aria-valuenow", at + 1);
    canvas.setAttribute("aria-valuetext", [...chart.querySelectorAll(".legend li")].map((li) => li.textContent.trim()).join("; "));
  };
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    show(bars ? Math.floor(share * rows.length) : Math.round(share * last), true);
  };
  const steps = {
    ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
    PageDown: -Math.ceil(rows.length / 10), PageUp: Math.ceil(rows.length / 10), Home: -rows.length, End: rows.length,
  };
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "slider");
  canvas.setAttribute("aria-valuemin", 1);
  canvas.setAttribute("aria-valuemax", rows.length);
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && show(last, false));
  canvas.addEventListener("focus", () => canvas.matches(":focus-visible") && show(at, true));
  canvas.addEventListener("blur", () => show(last, false));
  canvas.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    show(at + steps[event.key], true);
  });
  show(last, false);
};
document.querySelectorAll("figure.plotted").forEach(liven);
// Code: a button that copies it.
for (const code of document.querySelectorAll("pre.code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    let copied = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      copied = document.execCommand("copy");
    }
    button.textContent = copied ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  code.after(button);
}
// Tables of many rows: a field that filters them, and headings that sort them.
const number = (cell) => {
  const value = Number(cell.textContent.replaceAll(",", ""));
  return cell.textContent.trim() === "" || Number.isNaN(value) ? null : value;
};
for (const area of document.querySelectorAll(".sortable")) {
  const table = area.querySelector("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const field = document.createElement("input");
  const shown = document.createElement("output");
  field.type = "search";
  field.placeholder = "Filter";
  field.setAttribute("aria-label", "Filter the series");
  const filter = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  };
  const sort = (column) => {
    const head = heads[column];
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const compare = (one, other) => {
      const [a, b] = [one, other].map((row) => number(row.cells[column]));
      if (a !== null && b !== null) return down ? b - a : a - b;
      if (a !== null || b !== null) return a === null ? 1 : -1;
      const [s, t] = [one, other].map((row) => row.cells[column].textContent);
      if (s === "-" || t === "-") return (s === "-") - (t === "-");
      return down ? t.localeCompare(s) : s.localeCompare(t);
    };
    body.append(...[...rows].sort(compare));
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(column));
    head.append(button);
  });
  field.addEventListener("input", filter);
  area.prepend(field, shown);
  filter();
}
