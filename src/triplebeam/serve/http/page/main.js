// The page: which index, which question, and what is shown of what comes back.

import { get, isStopped, Problem, whenKeyIsWanted } from "./api.js";
import { seconds, showAnswer, stepsView } from "./answer_view.js";
import { conversation } from "./conversation.js";
import { documentsDialog } from "./documents.js";
import { byId, make, plural } from "./dom.js";
import { evidenceGraph } from "./evidence_graph.js";
import { form } from "./form.js";
import { showGraph } from "./graph_view.js";
import { askForKey } from "./key.js";
import { showHops, showPassages } from "./passages_view.js";
import { plainly, put } from "./question.js";
import { reader } from "./reader.js";

const SECTIONS = ["answer", "steps", "passages", "evidence-graph"];
const passages = reader(byId("reader"));
const talk = conversation(byId("conversation"), byId("understood"), { followUp: form.empty, startAnew });
let running = null;
let ready = null;

/** What goes on, in the live region; `unseen` is for those who hear the page, where others see it elsewhere. */
function say(text, unseen = "") {
  byId("status").replaceChildren(text, make("span", { class: "unseen" }, unseen));
}

/** Tell of a problem; what was typed stays. */
function showProblem(error) {
  if (isStopped(error)) return;
  if (!(error instanceof Problem)) console.error(error);
  byId("problem").textContent =
    error instanceof Problem ? error.message : "Something went wrong on this page: reload it, and try again.";
}

const clearProblem = () => {
  byId("problem").textContent = "";
};

function clear() {
  clearProblem();
  byId("welcome").hidden = true;
  for (const id of SECTIONS) byId(id).hidden = true;
}

/** From now on this alone runs: Stop ends it, and so does the next question. */
function start() {
  stop();
  running = new AbortController();
  form.busy(true);
  return running;
}

function end(own) {
  own.abort();
  if (running !== own) return;
  running = null;
  form.busy(false);
}

async function ask(asked) {
  const own = start();
  clear();
  const verb = asked.mode === "ask" ? "Asking" : "Searching";
  say(`${verb} …`);
  const steps = asked.mode === "ask" ? stepsView(byId("steps")) : null;
  const heard = {
    follow_up: (message) => {
      talk.understand(message);
      form.link({ ...asked, question: message.question }); // a link has no conversation
    },
    step: (step) => {
      steps.add(step);
      say(`Step ${step.number} is done, ${plural(step.facts.length, "new fact")}. Continuing …`);
    },
  };
  try {
    const result = await put(asked, talk.before(asked), heard, own.signal);
    const plain = await plainly(result, own.signal);
    steps?.fold();
    if (!steps?.count()) byId("steps").hidden = true;
    if (asked.mode === "ask" && result.outcome !== "model_failed") talk.add(result);
    await showResult(result, plain, own.signal);
  } catch (error) {
    if (running !== own) return; // another question has taken its place
    if (own.signal.aborted)
      say(
        steps?.count()
          ? `Stopped after ${plural(steps.count(), "step")}. The question is still there.`
          : "Stopped. The question is still there.",
      );
    else {
      say("");
      showProblem(error);
    }
    if (!steps?.count()) byId("steps").hidden = true;
  } finally {
    end(own);
  }
}

async function showResult(result, plain, signal) {
  if (result.mode === "ask") showAnswer(byId("answer"), result);
  showPassages(byId("passages"), result, plain, passages);
  if (result.mode !== "ask")
    say(
      result.passages.length
        ? `${plural(result.passages.length, "passage")} in ${seconds(result.seconds)}. ${result.remark ?? ""}`.trim()
        : "Nothing was found: try other words.",
    );
  else say(`Done in ${seconds(result.seconds)}.`, ` ${result.verdict} ${result.sentence || result.answer}`);
  if (!result.passages.length) return;
  const graph = await evidenceGraph(result, signal);
  showHops(graph.hops);
  if (!graph.edges.size) return; // boxes alone would say less than the list does
  byId("evidence-graph").hidden = false; // it is drawn at the width it then has
  showGraph(byId("evidence-graph"), graph, result);
}

function stop() {
  running?.abort();
}

function startAnew() {
  stop();
  talk.clear();
  clear();
  say("");
  form.empty();
}

async function refresh(wanted) {
  await learn();
  const known = await get("/api/indexes");
  form.offer(known, wanted);
  return known;
}

/** What the form offers is there: fetched once for all who wait for it, and again by the next after it failed. */
function learn() {
  ready ??= load().catch((error) => {
    ready = null;
    throw error;
  });
  return ready;
}

async function load() {
  clearProblem();
  const [known, methods, { version }] = await Promise.all([
    get("/api/indexes"),
    get("/api/methods"),
    get("/api/version"),
  ]);
  byId("version").textContent = `Triplebeam ${version}`;
  form.methods(methods);
  form.offer(known);
  say(known.indexes.length ? "" : "There is no index yet: open Documents to create one.");
  passages.followLink().catch(showProblem); // first, since a search updates the link
  form.followLink({ typed: byId("question").value.trim() });
}

/** Wait for what the form offers; false where that failed, or where Stop or another question came first. */
async function wait() {
  const own = start();
  say("Waiting for the list of indexes …");
  const stopped = new Promise((_, reject) => {
    own.signal.onabort = () => reject(own.signal.reason);
  });
  try {
    await Promise.race([learn(), stopped]);
    return true;
  } catch (error) {
    if (running === own) say(isStopped(error) ? "Stopped. The question is still there." : "");
    showProblem(error);
    return false;
  } finally {
    end(own);
  }
}

function begin() {
  whenKeyIsWanted(askForKey);
  const documents = documentsDialog(byId("documents"), { refresh, current: () => form.index() });
  byId("open-documents").onclick = () => documents.open();
  window.addEventListener("hashchange", () => passages.followLink().catch(showProblem)); // before the form's
  form.listen({ ask, stop, wait });
  learn().catch(showProblem);
}

begin();
