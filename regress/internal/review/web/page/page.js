// The page: where this reviewer looks, and what their keys do. Decisions are the server's.
import { Difference } from "./difference.js";
import { ask, cases, outcome, saved, written } from "./dialogs.js";
import { List } from "./list.js";
import { enter, post, Refused } from "./server.js";
import { common, element, find, number, plural, named } from "./words.js";

const linesFirst = 300, linesMore = 1200;

const page = {
  review: null, state: null,
  rows: [], families: [], // a row is the items that it stands for; it shows the first
  filter: "", open: [], at: -1, place: 0, mode: "unified", others: false, lines: linesFirst,
  ended: false, leaving: false,
};

const list = new List(find("#list"), (item) => look(item));
const difference = new Difference(find("#parts"), () => { page.lines += linesMore; load(true); });

const say = (text) => { find("#status").textContent = text; };
const item = () => page.review.items[page.at];
const items = (n) => plural(n, page.review.noun);
const kept = { a: "accepted", r: "rejected", s: "skipped", u: "undecided" };
const familyOf = (i) => page.families[page.rows.findIndex((row) => row[0] === i)] ?? "";
const under = (i) => page.rows.find((row) => row[0] === i) ?? [i];
const standing = (i) => kept[common(under(i), page.state.states).toLowerCase()];

// One request that decides at a time, in the order of the keys: each begins where the one
// before it ended.
let turn = Promise.resolve(), waiting = 0;
function queue(work) {
  waiting++;
  turn = turn.then(work).catch(failed).finally(() => { waiting--; });
  return turn;
}

// inTurn does at once what nothing is before, and else when its turn comes: whoever types
// ahead gets what they would have got by typing slowly.
const inTurn = (work) => { if (waiting) queue(async () => work()); else work(); };

function failed(error) {
  if (error.name === "AbortError") return;
  if (error instanceof Refused && error.status === 401) { end(error.message); return; }
  say(error.message);
  if (error instanceof Refused && error.status === 423) { queue(poll); return; } // another page decides now
  notice("failed", "warning", error.message);
}

// notice shows something that stays until it no longer holds; empty takes it away.
function notice(id, kind, ...content) {
  const box = find("#notices"), before = box.querySelector(`[data-id="${id}"]`);
  if (content.length === 0 || content[0] === "") { before?.remove(); return; }
  const text = content.map((c) => (typeof c === "string" ? c : c.textContent)).join("");
  if (before?.dataset.text === text) return;
  const p = element("p", { class: kind, "data-id": id, "data-text": text }, ...content);
  if (id === "failed") {
    const close = element("button", { type: "button", "aria-label": "Dismiss" }, "×");
    close.addEventListener("click", () => p.remove());
    p.append(" ", close);
  }
  if (before) before.replaceWith(p); else box.append(p);
}

// take shows a state that is newer than the one on the page.
function take(state) {
  if (page.state && state.revision < page.state.revision) return;
  page.state = state;
  list.show({ states: state.states });
  const counts = { a: 0, r: 0, s: 0, u: 0 };
  for (const letter of state.states) counts[letter.toLowerCase()]++;
  for (const [letter, n] of Object.entries(counts)) find(`#bar .${letter}`).style.flexGrow = n;
  find("#counts").replaceChildren(...Object.entries(counts).filter(([, n]) => n > 0)
    .map(([letter, n]) => element("span", { class: kept[letter] }, element("b", {}, number(n)), ` ${kept[letter]}`)));
  find("#undo").disabled = state.undoable === 0;
  const write = find("#write");
  write.disabled = state.pending === 0 && state.ready === 0;
  const words = [state.pending ? plural(state.pending, "decision") : "", state.ready ? plural(state.ready, "case") : ""].filter(Boolean);
  write.replaceChildren(...(write.disabled ? ["Nothing to write"] : [`Write ${words.join(", ")}… `, element("kbd", {}, "w")]));
  for (const note of document.querySelectorAll("#notices [data-id^=note]")) note.remove();
  state.notes.forEach((note, i) => notice(`note${i}`, "note", note));
  const { mine, browser, since, last } = state.holder;
  document.body.classList.toggle("reading", !mine);
  const over = element("button", { type: "button" }, "Take over");
  over.addEventListener("click", () => takeOver());
  notice("held", "note", ...(mine ? [] : [`${browser} has held this review since ${clock(since)}${last ? `; its last decision was at ${clock(last)}` : ""}. This page only reads. `, over]));
  remaining();
}

const clock = (time) => new Date(time).toLocaleTimeString([], { timeStyle: "short" });

// takeOver makes this page the one that decides. All decisions stay as they are.
const takeOver = () => queue(async () => {
  take(await post("take", { over: true }));
  await filter(page.filter);
  say("This page decides now.");
});

// reads reports whether another page decides, and says so.
function reads() {
  if (!page.state.holder.mine) say("This page only reads: take over to decide.");
  return !page.state.holder.mine;
}

// barred says why cases that are accepted are nothing to write.
const barred = (state) => (state.shut && page.review.golden ? `: no case can go into the golden (${state.shut})` : "");

function remaining() {
  const left = page.rows.flat().filter((i) => page.state.states[i].toLowerCase() === "u").length;
  find("#rest").textContent = left ? `${number(left)} undecided${page.filter ? " shown" : ""}:` : "None undecided";
  for (const button of document.querySelectorAll(".rest button")) button.disabled = left === 0;
}

// look goes to a cause.
function look(to, place = 0, quick = false) {
  if (to === page.at && place === page.place) return;
  page.at = to;
  page.place = place;
  page.lines = linesFirst;
  list.show({ at: to });
  list.reveal();
  about();
  load(false, quick);
}

function about() {
  const has = page.at >= 0;
  for (const button of document.querySelectorAll(".decide button:not(#undo), .families button, .walk button, .forms button")) button.disabled = !has;
  if (!has) {
    find("#cause").replaceChildren(`No ${page.review.noun}`);
    find("#facts").replaceChildren();
    find("#case").replaceChildren();
    find("#all").textContent = "Cases";
    return;
  }
  const it = item(), state = standing(page.at);
  find("#cause").replaceChildren(element("span", { class: "id" }, it.id), " ", element("span", { class: "name" }, ...named(it.name)));
  const facts = [plural(it.cases, "case")];
  if (it.lines) facts.push(plural(it.lines, "line"));
  if (it.sole) facts.push(it.sole === it.cases ? "which show nothing else" : `${number(it.sole)} show nothing else`);
  if (it.folded) facts.push(`a bucket of ${plural(it.folded, "cause")}`);
  const others = under(page.at).length - 1, family = familyOf(page.at);
  if (others) facts.push(`and ${items(others)} of family ${family}`);
  else if (family) facts.push(`family ${family}`);
  find("#facts").replaceChildren(element("span", { class: `chip ${state}` }, state), " ", facts.join(" · "), ...standsFor(it));
  find("#all").textContent = `${number(page.place + 1)} of ${number(it.cases)}`;
  find("#all").setAttribute("aria-label", `Case ${page.place + 1} of ${it.cases}: list the cases`);
}

// standsFor lists the changes that an item stands for, if they differ.
function standsFor(it) {
  if (!it.joined) return [];
  return [element("details", {}, element("summary", {}, `Texts that this name stands for, with their numbers of places`),
    element("ul", {}, ...it.joined.map((text) => element("li", { class: "name" }, ...named(text)))))];
}

// load fetches what the page looks at. While a key is held down it waits until it stops.
let loading = new AbortController(), pause = 0;
function load(keepPlace = false, quick = false) {
  loading.abort();
  loading = new AbortController();
  clearTimeout(pause);
  if (page.at < 0) { difference.clear(page.filter ? `No ${page.review.noun} passes the filter.` : "There is nothing to review."); return; }
  const { signal } = loading, fetchIt = async () => {
    const query = { item: item().id, place: page.place, mode: page.mode, lines: page.lines, others: page.others };
    find("#parts").setAttribute("aria-busy", "true");
    try {
      const shown = await post("difference", query, signal);
      find("#case").replaceChildren(shown.case, " ", element("span", { class: "chip verdict" }, shown.verdict + (shown.promoted ? ", in the golden" : "")),
        ...(shown.items.length > 1 ? [element("span", { class: "soft" }, ` also shows ${shown.items.filter((id) => id !== item().id).slice(0, 8).join(", ")}${shown.items.length > 9 ? " …" : ""}`)] : []));
      await difference.show(shown, query.mode, keepPlace);
      find("#parts").removeAttribute("aria-busy");
    } catch (error) {
      if (error.name === "AbortError") return;
      difference.clear(error.message);
      find("#parts").removeAttribute("aria-busy");
      if (error.status === 0 || error.status === 401) failed(error);
    }
  };
  if (quick) pause = setTimeout(fetchIt, 80); else fetchIt();
}

const done = { accept: "accepted", reject: "rejected", skip: "skipped" };

// act decides, and goes where the review goes on.
const act = (what) => queue(async () => {
  if (page.ended || reads()) return;
  const before = page.at >= 0 ? item().id : "";
  const now = await post("act", { do: what, item: before, filter: page.filter, open: page.open });
  notice("failed");
  take(now.state);
  const [verb, rest] = what.split("-");
  if (now.count === 0) say(what === "undo" ? "Nothing to undo." : "Nothing to decide on.");
  else if (what === "undo") say(`Undone. ${number(page.state.undoable)} left to undo.`);
  else say(`${rest || now.count > 1 ? items(now.count) : before} ${done[verb]}. ${find("#rest").textContent.replace(/:?$/, ".")}`);
  const to = page.review.items.findIndex((it) => it.id === now.item), told = find("#status").textContent;
  if (to >= 0 && page.rows.some((row) => row[0] === to) && to !== page.at) { look(to); say(`${told} Now ${here()}`); } else about();
});

// here says where this reviewer is, for those who do not see it.
const here = () => `${item().id} ${item().name}, ${plural(item().cases, "case")}, ${standing(page.at)}.`;

function move(by, quick) {
  if (page.rows.length === 0) return;
  const place = Math.max(0, Math.min(page.rows.length - 1, list.place() + by));
  look(page.rows[place][0], 0, quick);
  if (document.activeElement !== find("#list")) say(here()); // the list tells it by itself
}

function moveCase(by, quick) {
  if (page.at < 0) return;
  const n = item().cases;
  look(page.at, (page.place + by + n) % n, quick);
  say(`Case ${number(page.place + 1)} of ${number(n)}.`);
}

function form(mode) {
  page.mode = mode;
  for (const button of document.querySelectorAll(".forms button")) button.setAttribute("aria-pressed", button.dataset.mode === mode);
  say(`Shown ${{ unified: "unified", sides: "side by side" }[mode]}.`);
  load();
}

let typing = new AbortController();
async function filter(text) {
  page.filter = text;
  typing.abort();
  typing = new AbortController();
  try {
    const { rows, families } = await post("filter", { filter: text, open: page.open }, typing.signal);
    Object.assign(page, { rows, families });
    list.show({ rows, families });
    remaining();
    const at = (rows.find((row) => row.includes(page.at)) ?? rows[0])?.[0] ?? -1;
    if (at !== page.at) look(at); else { list.reveal(); about(); }
    if (text) say(`${items(rows.flat().length)} of ${number(page.review.items.length)} shown.`);
  } catch (error) { failed(error); }
}

// write shows what would be written, and writes it once that is confirmed. What changes
// between the two is shown first.
const write = (leaving) => queue(async () => {
  if (page.ended || reads()) return;
  if (find("#write").disabled) {
    if (leaving) await leave(); else say(`Nothing to write${barred(page.state)}.`);
    return;
  }
  const plan = await post("plan");
  take(plan.state);
  if (find("#write").disabled) { say("Nothing to write."); return; } // others have written it
  const answer = await ask({
    title: "Write this?", content: written(plan, page.review.noun), other: leaving ? "Finish and write nothing" : "",
    yes: plan.golden && plan.promote ? `Write ${plural(plan.promote, "case")} into the golden` : "Keep the decisions",
  });
  if (answer === "other") { await leave(true); return; }
  if (answer === "no") { say("Nothing was written."); return; }
  say("Writing …");
  const now = await post("commit", { revision: plan.state.revision });
  take(now.state);
  about();
  if (!now.written) { say("Nothing was written: others decided meanwhile. Look again, then write."); return; }
  load(true);
  say(`Written: ${saved(now)}, ${plural(now.accepted, "case")}.`);
  if (await ask({ title: now.refused ? "Only the decisions were written" : "Written", content: outcome(now), yes: "Finish", no: "Go on" }) === "yes") await leave();
});

async function leave(lose = false) {
  page.leaving = true; // the end that follows is no news
  await post("finish", { lose }).finally(() => { page.leaving = false; });
  end("You have finished, and muster has ended. This page can be closed.");
}

const invite = () => queue(async () => {
  const { link } = await post("link");
  await ask({ title: "A link for another browser", no: "Close", content: [
    element("p", {}, "It works once, and opens the review in another browser of this machine. That page reads, and can take over."),
    element("p", {}, element("code", { class: "link", tabindex: "0" }, link))] });
});

const listCases = () => queue(async () => {
  const it = item();
  await cases(`Cases of ${it.id}`, (from) => post("cases", { item: it.id, from }), (place) => look(page.at, place));
});

// fold folds the family of the cause, or opens it. A bucket is never folded.
async function fold() {
  const family = page.at >= 0 && !item().folded && familyOf(page.at), before = page.rows.length;
  if (!family) { say("No other cause here is of its family."); return; }
  const opened = page.open;
  page.open = opened.includes(family) ? opened.filter((f) => f !== family) : [...opened, family];
  await filter(page.filter);
  if (page.rows.length === before) page.open = opened;
  say(page.rows.length === before ? "No other cause here is of its family." : `Family ${family} ${page.open.includes(family) ? "opened" : "folded"}.`);
}

// foldAll opens all families if some are folded, and else folds them.
async function foldAll() {
  const folded = page.rows.some((row) => row.length > 1);
  page.open = folded ? [...new Set(page.families.filter(Boolean))] : [];
  await filter(page.filter);
  say(`${items(page.rows.length)} listed.`);
}

// end takes everything away that no longer does anything.
function end(why) {
  if (page.ended) return;
  page.ended = true;
  loading.abort();
  document.body.classList.add("ended");
  for (const control of document.querySelectorAll("button, input")) control.disabled = true;
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close("no");
  notice("ended", "note", element("strong", {}, why));
  say(why);
}

const unsaved = () => page.review.items.filter((_, i) => /[ARSU]/.test(page.state.states[i])).map((it) => it.id).slice(0, 40).join(" ");

// What the keys do, as in the terminal.
const keys = {
  a: () => act("accept"), r: () => act("reject"), s: () => act("skip"), u: () => act("undo"),
  A: () => act("accept-rest"), R: () => act("reject-rest"), S: () => act("skip-rest"),
  j: (e) => inTurn(() => move(+1, e.repeat)), k: (e) => inTurn(() => move(-1, e.repeat)),
  n: (e) => inTurn(() => moveCase(+1, e.repeat)), p: (e) => inTurn(() => moveCase(-1, e.repeat)),
  v: () => { const { modes } = page.review; form(modes[(modes.indexOf(page.mode) + 1) % modes.length]); },
  o: () => { find("#others").click(); },
  "/": () => { find("#filter").focus(); find("#filter").select(); },
  f: () => queue(fold), F: () => queue(foldAll),
  "?": () => find("#help").showModal(),
  g: () => inTurn(() => move(-Infinity)), G: () => inTurn(() => move(+Infinity)),
  " ": () => scroll(+0.9), b: () => scroll(-0.9), J: () => scroll(+0.5), K: () => scroll(-0.5),
  w: () => write(false), q: () => write(true),
};
const scroll = (pages) => { const box = find("#parts"); box.scrollBy(0, pages * box.clientHeight); };
const arrows = { ArrowDown: +1, ArrowUp: -1, PageDown: +10, PageUp: -10, Home: -Infinity, End: +Infinity };

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || page.ended || !page.review || document.querySelector("dialog[open]")) return;
  if (event.target.matches("input:not([type=checkbox])")) return;
  if (event.target === find("#list") && event.key in arrows) {
    event.preventDefault();
    inTurn(() => move(arrows[event.key], event.repeat));
    return;
  }
  if (event.target === find("#list") && event.key === "Enter") { event.preventDefault(); write(true); return; }
  if (event.key === " " && event.target.matches("button, input, summary")) return;
  const does = find("#single").checked && keys[event.key];
  if (!does) return;
  event.preventDefault();
  does(event);
}

function wire() {
  document.addEventListener("keydown", pressed);
  for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => act(button.dataset.do));
  for (const button of document.querySelectorAll(".forms button")) button.addEventListener("click", () => form(button.dataset.mode));
  const on = { fold: keys.f, keys: () => find("#help").showModal(), link: invite, write: () => write(false), finish: () => write(true), previous: () => moveCase(-1), next: () => moveCase(+1), all: listCases };
  for (const [id, does] of Object.entries(on)) find(`#${id}`).addEventListener("click", does);
  find("#others").addEventListener("change", (event) => { page.others = event.target.checked; load(true); });
  const box = find("#filter");
  box.addEventListener("input", () => filter(box.value));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && box.value) { box.value = ""; filter(""); }
    if (event.key === "Escape" || event.key === "Enter") { event.preventDefault(); find("#list").focus(); }
  });
}

// poll shows what has changed, such as the decisions of the page that decides.
async function poll() {
  try {
    const { revision, holder } = page.state;
    const state = await post("state");
    notice("lost");
    if (page.ended || state.revision === revision && JSON.stringify(state.holder) === JSON.stringify(holder)) return;
    take(state);
    about();
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 0) throw error;
    const n = page.state.holder.mine ? page.state.pending : 0;
    notice("lost", "warning", "muster does not answer. It may have ended; this page tries again.", n ? ` ${plural(n, "decision")} ${n === 1 ? "is" : "are"} not written: ${unsaved()}.` : "");
  }
}

const pollEvery = 2000;

async function begin() {
  await enter();
  const state = await post("take", { over: false });
  const review = page.review = await post("review");
  Object.assign(page, await post("filter", {}));
  document.body.classList.remove("loading");
  find("#run").textContent = `${review.command} ${review.run} · ${plural(review.cases, "case")} in ${items(review.items.length)}`;
  list.show({ items: review.items, rows: page.rows, families: page.families, states: state.states });
  take(state);
  wire();
  const open = page.rows.find((row) => row.some((i) => state.states[i] === "u"));
  if (page.rows.length) look((open ?? page.rows[0])[0]); else { about(); load(); }
  if (review.noun !== "cause") {
    for (const e of document.querySelectorAll("#list, .causes")) e.setAttribute("aria-label", "Causes and other items");
    find(".decide").setAttribute("aria-label", "Decide on this item");
    find(".walk").setAttribute("aria-label", "Cases of this item");
  }
  find("#list").focus();
  while (!page.ended) {
    await new Promise((done) => setTimeout(done, pollEvery));
    if (!page.ended && !page.leaving && !document.querySelector("dialog[open]")) await queue(poll);
  }
}

begin().catch((error) => {
  document.body.classList.remove("loading");
  if (page.review) { failed(error); return; }
  page.state = null;
  end(error.message);
});
