// One question: what the chosen method finds or answers, and what plain search finds, side by side.

import { errorOf, events, get, post, Problem, within } from "./api.js";

export const PLAIN = "hybrid";
export const SHOWN = 10;

/**
 * Put a question. `heard` is told of a `follow_up` once it is rewritten, and of `step`s as they are done.
 *
 * The result has the same shape for both modes: `question, method, passages`, and of an answer also `outcome, answer,
 * sentence, others, missing, verdict, supported, ending, evidence, steps, usage, follow_up, price`.
 */
export async function put({ index, question, mode, method, where }, earlier, heard, signal) {
  const began = performance.now();
  const result =
    mode === "ask"
      ? await asked(index, { question, method, conversation: earlier, where }, heard, signal)
      : await post(within(index, "search"), { question, method, k: SHOWN, where }, signal);
  const whole = { evidence: [], steps: [], ...result, mode, method, index, where };
  whole.seconds = mode === "ask" ? (performance.now() - began) / 1000 : result.seconds;
  whole.passages = await withEvidence(whole, signal);
  return whole;
}

async function asked(index, body, heard, signal) {
  for await (const { name, data } of events(within(index, "ask"), { body, signal })) {
    if (name === "answer") return data;
    if (name === "error") throw errorOf(data);
    heard[name]?.(data);
  }
  throw new Problem("no_answer", "The server ended the stream without an answer: ask again.");
}

/** What plain search finds, or the problem why it does not: a comparison must never cost the answer. */
export async function plainly({ index, question, where }, signal) {
  try {
    return await post(within(index, "search"), { question, method: PLAIN, k: SHOWN, where }, signal);
  } catch (error) {
    if (error instanceof Problem) return { problem: error.message, passages: [] };
    throw error;
  }
}

/** The best passages with their ranks, and any other that the evidence stands in. */
async function withEvidence({ index, passages, evidence }, signal) {
  const ranked = passages.map((passage, place) => ({ chains: [], ...passage, rank: place + 1 }));
  const needed = new Set(evidence.filter((each) => each.span).map((each) => each.span.passage_id));
  const shown = ranked.filter((passage) => passage.rank <= SHOWN || needed.has(passage.id));
  const held = new Set(shown.map((passage) => passage.id));
  const missing = [...needed].filter((id) => !held.has(id));
  const fetched = await Promise.all(missing.map((id) => get(within(index, "passages", id), signal)));
  return [...shown, ...fetched.map((passage) => ({ ...passage, chains: [], rank: null }))];
}
