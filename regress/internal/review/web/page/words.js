// Small things: elements, numbers, names.

// element makes one; texts are never taken for markup.
export function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

export const find = (selector) => document.querySelector(selector);

const format = new Intl.NumberFormat("en");
export const number = (n) => format.format(n);
export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

// named shows the name of a cause; in old → new what went and what came in their colours.
export function named(name) {
  if (/^[-+] ./.test(name)) return [element("span", { class: name[0] === "-" ? "was" : "is" }, name.replace("-", "−"))];
  const sides = name.split(" → ");
  if (sides.length !== 2) return [name];
  return [element("span", { class: "was" }, sides[0]), " → ", element("span", { class: "is" }, sides[1])];
}

// common returns the letter of the state of a row: that of all items that it stands for, in capitals if one
// of them is not written. If they differ, they are undecided.
export function common(under, states) {
  const letters = under.map((i) => states[i] ?? "u"), same = new Set(letters.map((l) => l.toLowerCase()));
  const letter = same.size === 1 ? [...same][0] : "u";
  return letters.some((l) => l < "a") ? letter.toUpperCase() : letter;
}
