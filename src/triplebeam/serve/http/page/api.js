// The server's interface: JSON, events, and a key where one is wanted.

const KEY = "triplebeam-key";
let askForKey = null;
let asking = null;

/** What went wrong, in one sentence for people. */
export class Problem extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** `ask(why)` resolves to a key, or to null where the user has none. */
export function whenKeyIsWanted(ask) {
  askForKey = ask;
}

export const isStopped = (error) => error?.name === "AbortError";

async function send(path, options = {}) {
  const key = sessionStorage.getItem(KEY);
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (isStopped(error)) throw error;
    throw new Problem("unreachable", "The server cannot be reached: check that it is running, then try again.");
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401 && askForKey && (await newKey(problem.message, key))) return send(path, options);
  throw problem;
}

async function problemOf(response) {
  const body = await response.json().catch(() => null);
  const said = body?.error?.message ?? `the server returned ${response.status} without a reason.`;
  return new Problem(body?.error?.code ?? "unexplained", sentence(said));
}

/** A sentence begins with a capital. */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Requests that are refused together ask for one key together. */
async function newKey(why, refused) {
  const known = sessionStorage.getItem(KEY);
  if (known && known !== refused) return true;
  sessionStorage.removeItem(KEY);
  asking ??= askForKey(why).finally(() => {
    asking = null;
  });
  const key = await asking;
  if (key) sessionStorage.setItem(KEY, key);
  return Boolean(key);
}

const json = (method, body, signal) => ({
  method,
  signal,
  body: JSON.stringify(body),
  headers: { "Content-Type": "application/json" },
});

export const get = async (path, signal) => (await send(path, { signal })).json();
export const post = async (path, body = {}, signal) => (await send(path, json("POST", body, signal))).json();
export const remove = async (path) => (await send(path, { method: "DELETE" })).json();

export async function sendFiles(path, files, fields = {}) {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return (await send(path, { method: "POST", body: form })).json();
}

/** Events as they come, each `{name, data}`: EventSource can neither post nor send a key. */
export async function* events(path, { body, signal } = {}) {
  const response = await send(path, body ? json("POST", body, signal) : { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (waiting + value).replaceAll("\r\n", "\n").split("\n\n");
      waiting = blocks.pop();
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (isStopped(error) || error instanceof Problem) throw error;
    throw new Problem("broken_off", "The connection was lost before the answer arrived: ask again.");
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(block) {
  const event = { name: "message", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event.name = line.slice(6).trim();
    else if (line.startsWith("data:")) event.data += line.slice(5).trim();
  }
  return event.data ? { name: event.name, data: JSON.parse(event.data) } : null;
}

/** The path of an index, or of something in it; ids keep their slashes. */
export function within(index, ...parts) {
  const path = parts.map((part) => part.split("/").map(encodeURIComponent).join("/"));
  return ["/api/indexes", encodeURIComponent(index), ...path].join("/");
}

export const errorOf = (data) => new Problem(data.error.code, sentence(data.error.message));
