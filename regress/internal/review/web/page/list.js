// The list of causes. There may be thousands, so only the rows in sight are in the
// document; each knows its place, for screen readers.
import { common, element, number, plural, named } from "./words.js";

const words = { a: "accepted", r: "rejected", s: "skipped", u: "undecided" };
const signs = { a: "✓", r: "✗", s: "–", u: "○" };
const around = 6; // rows kept ready on either side

export class List {
  // box is the listbox; chosen is called with the index of an item.
  constructor(box, chosen) {
    this.box = box;
    this.runway = box.appendChild(element("div", { class: "runway", role: "presentation" }));
    this.items = []; this.under = []; this.families = []; this.visible = []; this.states = ""; this.at = -1; this.rows = new Map();
    let due = false;
    box.addEventListener("scroll", () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => { due = false; this.draw(); });
    }, { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
    this.runway.addEventListener("click", (event) => {
      const row = event.target.closest("[role=option]");
      if (row) chosen(Number(row.dataset.item));
    });
  }

  // show takes what there is; the rows are drawn anew where they changed.
  show({ items, rows, families, states, at }) {
    if (families) this.families = families;
    if (items) this.items = items;
    if (rows) { this.under = rows; this.visible = rows.map((row) => row[0]); }
    if (states !== undefined) this.states = states;
    if (at !== undefined) this.at = at;
    this.runway.style.height = `${this.visible.length * this.height()}px`;
    for (const row of this.rows.values()) row.dataset.stale = "";
    this.draw();
  }

  height() {
    this.rowHeight ??= parseFloat(getComputedStyle(this.box).getPropertyValue("--row"));
    return this.rowHeight;
  }

  place() { return this.visible.indexOf(this.at); }

  // reveal scrolls so far that the item is in sight.
  reveal() {
    const place = this.place(), h = this.height(), box = this.box;
    if (place < 0) return;
    if (place * h < box.scrollTop) box.scrollTop = place * h;
    else if ((place + 1) * h > box.scrollTop + box.clientHeight) box.scrollTop = (place + 1) * h - box.clientHeight;
    this.draw();
  }

  draw() {
    const h = this.height(), top = this.box.scrollTop;
    const from = Math.max(0, Math.floor(top / h) - around);
    const to = Math.min(this.visible.length, Math.ceil((top + this.box.clientHeight) / h) + around);
    const wanted = new Map();
    for (let place = from; place < to; place++) wanted.set(this.visible[place], place);
    // What has the attention stays in the document wherever it is: a reader is told its name.
    if (this.place() >= 0) wanted.set(this.at, this.place());
    for (const [item, row] of this.rows) {
      if (!wanted.has(item)) { row.remove(); this.rows.delete(item); }
    }
    for (const [item, place] of [...wanted].sort((a, b) => a[1] - b[1])) this.row(item, place);
    if (this.place() >= 0) this.box.setAttribute("aria-activedescendant", `item-${this.at}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  row(item, place) {
    let row = this.rows.get(item);
    if (!row) {
      row = element("div", { role: "option", id: `item-${item}`, "data-item": item, "data-stale": "" });
      this.rows.set(item, row);
      this.runway.append(row);
    }
    if (row.dataset.stale === undefined) return;
    delete row.dataset.stale;
    const it = this.items[item], under = this.under[place], letter = common(under, this.states), state = letter.toLowerCase();
    row.className = `row ${words[state]}${letter === state ? "" : " pending"}`;
    row.style.transform = `translateY(${place * this.height()}px)`;
    row.setAttribute("aria-posinset", place + 1);
    row.setAttribute("aria-setsize", this.visible.length);
    row.setAttribute("aria-selected", item === this.at);
    row.replaceChildren(
      element("span", { class: "sign", "aria-hidden": "true" }, signs[state]),
      element("span", { class: "id" }, it.id),
      element("span", { class: "title" }, ...(under.length > 1 ? [element("span", { class: "more" }, `▸${number(under.length - 1)} `), element("span", { class: "unseen" }, "more of its family: ")] : []), ...named(it.name)),
      element("span", { class: "count" }, number(it.cases)),
      element("span", { class: "unseen" }, plural(it.cases, "case").replace(number(it.cases), "")),
      element("span", { class: "state" }, state === "u" ? (this.families[place] || (it.kind === "edit" ? "" : it.kind)) : words[state] + (letter === state ? "" : ", not written")),
      element("span", { class: "lines-of" }, it.lines ? plural(it.lines, "line") : ""),
    );
  }
}
