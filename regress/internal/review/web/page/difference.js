// The difference of one case, as the server has laid it out.
import { element } from "./words.js";

const signs = { gone: "−", come: "+", changed: "±" };
const atOnce = 200; // lines that are made between two frames

// mark makes a stretch of a line. What went and what came are elements of their own kind,
// for readers that tell them apart by ear.
function mark({ text, mark }) {
  if (!mark) return text;
  return element(mark.startsWith("gone") ? "del" : "ins", mark.endsWith("other") ? { class: "other" } : {}, text);
}

const cell = (kind, spans = []) => element("td", { class: `text ${kind}` }, ...spans.map(mark));
const numbered = (n) => element("td", { class: "number" }, n ? String(n) : "");

function row(line, mode) {
  const tr = element("tr", { class: line.kind });
  if (line.kind === "heading" || line.kind === "remark") {
    const td = cell("whole", line.left);
    td.colSpan = 4;
    tr.append(td);
  } else if (mode === "sides") {
    const was = line.kind === "same" || line.kind === "come" ? "" : "gone", is = line.kind === "same" || line.kind === "gone" ? "" : "come";
    tr.append(numbered(line.old), cell(was, line.left), numbered(line.now), cell(is, line.right));
  } else {
    tr.append(numbered(line.old), numbered(line.now), element("td", { class: "sign" }, signs[line.kind] ?? ""), cell("", line.left));
  }
  return tr;
}

function heads(mode) {
  const names = mode === "sides" ? ["old line", "old", "new line", "new"] : ["old line", "new line", "what happened", "text"];
  return element("thead", {}, element("tr", {}, ...names.map((n) => element("th", { scope: "col" }, n))));
}

// columns have their widths from here, whatever the first row is.
function columns(mode) {
  const of = mode === "sides" ? ["number", "text", "number", "text"] : ["number", "number", "sign", "text"];
  return element("colgroup", {}, ...of.map((kind) => element("col", { class: `of-${kind}` })));
}

// picture draws one side on a canvas: the page's policy allows no picture from data.
function picture(side, { words, width, height, png }) {
  const canvas = element("canvas", { role: "img", "aria-label": `${side}, ${words}` });
  const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
  createImageBitmap(new Blob([bytes], { type: "image/png" })).then((bitmap) => {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    canvas.getContext("bitmaprenderer").transferFromImageBitmap(bitmap);
    canvas.dataset.drawn = "";
  });
  canvas.width = width;
  canvas.height = height;
  return element("figure", {}, canvas, element("figcaption", {}, `${side}, ${words}`));
}

let groups = 0;

// pictures shows both sides in the form that the reviewer chooses; the style sheet does the rest.
function pictures({ name, old, now }) {
  const sides = [old && picture("old", old), now && picture("new", now)].filter(Boolean);
  const box = element("div", { class: "pictures", role: "group", "aria-label": `Pictures of ${name}` });
  if (sides.length === 2) {
    const group = `form-${++groups}`, choice = element("p", { class: "choice" });
    for (const [value, words] of [["sides", "Side by side"], ["blend", "Blended"], ["flicker", "Flicker"]]) {
      const input = element("input", { type: "radio", name: group, value });
      input.checked = value === "sides";
      choice.append(element("label", {}, input, ` ${words}`), " ");
    }
    box.append(choice);
  }
  box.append(element("div", { class: "both", tabindex: "0", role: "group", "aria-label": "Old and new" }, ...sides),
    element("p", { class: "soft for-blend" }, "Black is equal on both sides."),
    element("p", { class: "soft for-flicker" }, "Old and new take turns. If your system asks for less motion, point at the picture to see the new one."));
  return box;
}

export class Difference {
  constructor(box, more) { this.box = box; this.more = more; this.turn = 0; }

  clear(text) {
    this.turn++;
    this.box.replaceChildren(element("p", { class: "nothing" }, text));
  }

  // show puts a case on the page, the first lines at once and the rest between frames.
  async show(shown, mode, keepPlace) {
    const turn = ++this.turn, at = this.box.scrollTop;
    const bodies = [], content = [];
    if (shown.ending) content.push(element("p", { class: "ending" }, "ended: ", element("b", {}, shown.ending)));
    if (shown.where) content.push(element("p", { class: "note" }, "on the engine: ", shown.where));
    if (shown.why) content.push(element("p", { class: "note" }, shown.why));
    for (const part of shown.parts) {
      const body = element("tbody");
      content.push(element("h3", {}, element("span", { class: "name" }, part.name), " ", element("span", { class: "soft" }, part.words)));
      if (part.old || part.now) content.push(pictures(part));
      if (part.lines?.length) {
        const isNumbered = part.lines.some((line) => line.old || line.now), form = isNumbered ? mode : "unified"; // hex has one form
        content.push(element("table", { class: `lines ${form}${isNumbered ? "" : " unnumbered"}`, "aria-label": part.name }, columns(form), heads(form), body));
        bodies.push([body, part.lines, form]);
      }
      if (part.more) {
        const button = element("button", { type: "button", class: "more" }, `Show more of ${part.name}`);
        button.addEventListener("click", () => this.more());
        content.push(button);
      }
    }
    if (!content.length) content.push(element("p", { class: "nothing" }, "There is nothing to show of this case."));
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    let made = 0;
    const fill = async () => {
      for (const [body, lines, form] of bodies) {
        for (let from = 0; from < lines.length; from += atOnce) {
          if (made >= atOnce) { made = 0; await frame(); }
          if (turn !== this.turn) return;
          const some = lines.slice(from, from + atOnce);
          made += some.length;
          body.append(...some.map((line) => row(line, form)));
        }
      }
    };
    const filled = fill();
    this.box.replaceChildren(...content);
    this.box.scrollTop = keepPlace ? at : 0;
    await filled;
    if (keepPlace && turn === this.turn) this.box.scrollTop = at;
  }
}
