// What the page asks of the server. Requests bring the key, which stays with this origin, and the
// ID of this tab: one tab at a time decides.

const keyName = "muster-review-key", pageName = "muster-review-page";

function kept(storage, name) {
  try { return window[storage].getItem(name) ?? ""; } catch { return ""; }
}

function keep(storage, name, value) {
  try { window[storage].setItem(name, value); } catch { /* kept until the page is loaded again */ }
}

let key = kept("localStorage", keyName);
const page = kept("sessionStorage", pageName) || crypto.randomUUID(); // a reload stays the same page
keep("sessionStorage", pageName, page);

// Refused is an answer that says why not.
export class Refused extends Error {
  constructor(status, why) { super(why); this.status = status; }
}

export async function post(path, body = {}, signal) {
  let response;
  try {
    response = await fetch(path, { method: "POST", cache: "no-store", signal, body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", "Muster-Key": key, "Muster-Page": page } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "muster does not answer");
  }
  if (!response.ok) {
    const { error } = await response.json().catch(() => ({}));
    throw new Refused(response.status, error ?? response.statusText);
  }
  return response.json();
}

// enter exchanges the token of a link, and takes it out of the address and the history.
export async function enter() {
  const token = location.hash.slice(1);
  if (!token || token === "difference") return;
  history.replaceState(null, "", location.pathname);
  ({ key } = await post("session", { token }));
  keep("localStorage", keyName, key);
}
