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
    throw new Refused(0, "muster does not answer");
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

export async function post(path, body = {}, signal) {
  const options = { signal, method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
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

// A stream that says nothing for three beats is dead: a laptop was closed, or a network went.
const deafAfter = 45_000;
// How often it is tried again, at longer and longer intervals: a minute in all.
const triesMax = 15;

// follow calls back with every revision until the review ends, and returns whether it was
// muster that said so. A stream that is cut is taken up again; lost is told when it is, and
// when it is back. over says that nobody wants it any more.
export async function follow({ revised, lost, over }) {
  for (let tries = 0; tries < triesMax;) {
    const ended = await listen(revised, () => { if (tries) { tries = 0; lost(false); } });
    if (ended || over()) return true;
    tries++;
    lost(true);
    await new Promise((done) => setTimeout(done, Math.min(5000, 250 * 2 ** tries)));
  }
  return false;
}

// listen follows one stream to its end, and returns whether muster has ended.
async function listen(revised, heard) {
  const stop = new AbortController();
  let alarm;
  const alive = () => { clearTimeout(alarm); alarm = setTimeout(() => stop.abort(), deafAfter); };
  alive();
  try {
    const reader = (await ask("changes", { signal: stop.signal })).body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return false;
      alive();
      heard();
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        const told = JSON.parse(line);
        if (told.ended) return true;
        if (told.revision) revised(told.revision);
      }
    }
  } catch (error) {
    if (error instanceof Refused && error.status) throw error;
    return false;
  } finally {
    clearTimeout(alarm);
  }
}
