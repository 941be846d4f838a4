// What is asked before something happens, and said after it.
import { element, find, number, plural, named } from "./words.js";

// ask shows a dialog and returns how it was answered: yes, other or no. The page behind it
// cannot be reached meanwhile. No answer by mistake: going back has the attention first,
// and y is yes, as in the terminal.
export function ask({ title, content, yes, other, no = "Go back" }) {
  const dialog = find("#ask"), refuse = find("#ask-no");
  find("#ask-title").textContent = title;
  find("#ask-text").replaceChildren(...content);
  for (const [id, words] of [["#ask-yes", yes], ["#ask-other", other]]) {
    if (words) find(id).textContent = words; // a hidden button keeps its name
    find(id).hidden = !words;
  }
  refuse.textContent = no;
  dialog.returnValue = "no";
  dialog.onkeydown = (event) => { if (event.key === "y" && yes && !event.ctrlKey && !event.metaKey && !event.altKey) dialog.close("yes"); };
  dialog.showModal();
  refuse.focus();
  return new Promise((answered) => {
    dialog.addEventListener("close", () => answered(dialog.returnValue || "no"), { once: true });
  });
}

const said = { accepted: "accept", rejected: "reject", "": "take back what was decided on" };
const p = (...children) => element("p", {}, ...children);

// written says in all detail what writing would do.
export function written(plan, noun) {
  const content = [];
  if (plan.golden && plan.shut) {
    content.push(p(element("b", {}, "No case"), " goes into the golden ", element("span", { class: "name" }, plan.golden), `: ${plan.shut}.`));
  } else if (plan.golden) {
    content.push(p(element("b", {}, plural(plan.promote, "case")), ` ${plan.promote === 1 ? "goes" : "go"} into the golden `, element("span", { class: "name" }, plan.golden), plan.promote ? ":" : "."));
  } else {
    content.push(p("This run was a compare: it has no golden, and only the decisions are kept."));
  }
  if (plan.golden && plan.promote) {
    const names = plan.names.map((name) => element("li", {}, name));
    if (plan.promote > plan.names.length) names.push(element("li", { class: "soft" }, `… and ${number(plan.promote - plan.names.length)} more`));
    const few = plan.names.slice(0, 3).join(", ") + (plan.promote > 3 ? " …" : "");
    content.push(element("details", { class: "names", "aria-label": "Cases that go into the golden" }, element("summary", {}, few), element("ul", {}, ...names)));
  }
  if (plan.waits) {
    const rows = plan.waiting.map((w) => element("li", {}, `${plural(w.cases, "case")} for ${w.for}`));
    content.push(p(element("b", {}, plural(plan.waits, "case")), ` ${plan.waits === 1 ? "waits" : "wait"}: not all of ${plan.waits === 1 ? "its" : "their"} causes are accepted:`),
      element("ul", { class: "waiting" }, ...rows));
  }
  if (plan.untouched) content.push(p(`${plural(plan.untouched, "other case")} ${plan.untouched === 1 ? "stays" : "stay"} out of it: no ${noun} of ${plan.untouched === 1 ? "its is" : "theirs is"} accepted.`));
  if (plan.stay) content.push(p(`${plural(plan.stay, "case")} ${plan.stay === 1 ? "stays" : "stay"} in the golden. Taking a decision back does not remove cases from it.`));
  const choices = plan.decisions.map((d) => element("li", {}, element("b", {}, said[d.now]), " ", element("span", { class: "id" }, d.id), " ", element("span", { class: "name" }, ...named(d.name)),
    d.was ? element("span", { class: "soft" }, `, which was ${d.was}`) : ""));
  if (plan.kept > choices.length) choices.push(element("li", { class: "soft" }, `… and ${number(plan.kept - choices.length)} more`));
  content.push(element("details", { "aria-label": "Decisions", ...(choices.length > 12 ? {} : { open: "" }) },
    element("summary", {}, `${plural(plan.kept, "decision")} ${plan.kept === 1 ? "is" : "are"} kept with the run`),
    element("ul", { class: "choices" }, ...choices)));
  if (plan.skipped) content.push(p(`${plural(plan.skipped, `skipped ${noun}`)} ${plan.skipped === 1 ? "is" : "are"} left for later.`));
  return content;
}

// saved says what was written beside the golden.
export const saved = (done) => `${plural(done.decided, "decision")} kept`;

// outcome says what came of writing.
export function outcome(done) {
  const content = [p(`${saved(done)}, `, element("b", {}, plural(done.accepted, "case")), " put into the golden.")];
  if (done.refused) content.push(element("p", { class: "warning" }, element("strong", {}, "No case went into the golden. "), done.refused, " Your decisions are kept."));
  for (const note of done.notes) content.push(element("p", { class: "note" }, note));
  return content;
}

// cases lists the cases of a cause, as many at a time as the server gives, and calls back
// with the place of the one that is chosen.
export async function cases(title, load, chosen) {
  const ul = element("ul", { class: "cases" }), more = element("button", { type: "button" }, "More");
  let from = 0;
  const next = async () => {
    const { cases, total } = await load(from);
    from += cases.length;
    for (const c of cases) {
      const button = element("button", { type: "button" }, element("span", { class: "name" }, c.name), " ", element("span", { class: "soft" }, c.verdict + (c.promoted ? ", in the golden" : "")));
      button.addEventListener("click", () => { find("#ask").close("no"); chosen(c.place); });
      ul.append(element("li", {}, button));
    }
    more.hidden = from >= total;
    more.textContent = `More: ${number(total - from)} are left`;
  };
  more.addEventListener("click", next);
  await next();
  return ask({ title, content: [ul, more], no: "Close" });
}
