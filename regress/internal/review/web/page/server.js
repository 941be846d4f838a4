// What the page asks of the server. Requests bring the key, which stays with this origin,
// beside the cookie, which a browser sends to every server of a machine.

const keyName = "muster-review-key";
let key = "";
try { key = localStorage.getItem(keyName) ?? ""; } catch { /* kept for this page alone */ }

// Refused is an answer that says why not.
export class Refused extends Error {
  constructor(status, why) { super(why); this.status = status; }
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", credentials: "same-origin", ...options,
      headers: { "Muster-Key": key, ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "muster does not answer: it has ended, or was stopped");
  }
  if (!response.ok) {
    const { error } = await response.json().catch(() => ({}));
    throw new Refused(response.status, error ?? response.statusText);
  }
  return response;
}

export async function get(path, query = {}, signal) {
  const text = new URLSearchParams(query).toString();
  return (await ask(text ? `${path}?${text}` : path, { signal })).json();
}

export async function post(path, body = {}) {
  const options = { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  return (await ask(path, options)).json();
}

// enter exchanges the token of a link, and takes it out of the address and the history.
export async function enter() {
  const token = location.hash.slice(1);
  if (!token || token === "difference") return;
  history.replaceState(null, "", location.pathname);
  ({ key } = await post("session", { token }));
  try { localStorage.setItem(keyName, key); } catch { /* kept for this page alone */ }
}

// follow calls back with every revision until the review ends, and returns whether it was
// muster that said so.
export async function follow(revised) {
  const reader = (await ask("changes")).body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return false;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const told = JSON.parse(line);
      if (told.ended) return true;
      if (told.revision) revised(told.revision);
    }
  }
}
