// The difference of one case, as the server has laid it out.
import { element } from "./words.js";

const signs = { gone: "−", come: "+", changed: "±" };
const atOnce = 200; // lines that are made between two frames

// mark makes a stretch of a line. What went and what came are elements of their own kind,
// for readers that tell them apart by ear.
function mark({ text, mark, kind }) {
  if (!mark) return kind ? element("span", { class: `token-${kind}` }, text) : text;
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
      if (part.lines?.length) {
        content.push(element("table", { class: `lines ${mode}`, "aria-label": part.name }, columns(mode), heads(mode), body));
        bodies.push([body, part.lines]);
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
      for (const [body, lines] of bodies) {
        for (let from = 0; from < lines.length; from += atOnce) {
          if (made >= atOnce) { made = 0; await frame(); }
          if (turn !== this.turn) return;
          const some = lines.slice(from, from + atOnce);
          made += some.length;
          body.append(...some.map((line) => row(line, mode)));
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
