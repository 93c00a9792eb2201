// The conversation so far: what a follow-up ("and when did she die?") may refer to, and how one was understood.

import { make, show } from "./dom.js";

/** The earlier questions, and buttons to go on with them (`followUp`) or not (`startAnew`). */
export function conversation(section, understood, { followUp, startAnew }) {
  let turns = [];

  const button = (text, onclick) => make("button", { type: "button", class: "link", onclick }, text);

  function draw(earlier) {
    show(
      section,
      make(
        "ol",
        { "aria-label": "Earlier in this conversation" },
        earlier.map(({ question, answer }) => make("li", {}, question, " ", make("b", {}, answer))),
      ),
      make("p", { class: "buttons" }, button("Ask a follow-up", followUp), button("New conversation", startAnew)),
    );
    section.hidden = !turns.length;
  }

  return {
    /** The turns that a question continues, as the server takes them. To ask the last one again continues nothing. */
    before({ index, mode, question }) {
      understood.textContent = "";
      if (mode !== "ask") return [];
      turns = turns.filter((turn) => turn.index === index);
      if (turns.at(-1)?.asked === question) turns.pop();
      draw(turns);
      return turns.flatMap((turn) => [
        { role: "user", content: turn.question },
        { role: "assistant", content: turn.said },
      ]);
    },

    /** How a follow-up was understood. */
    understand({ asked, question, problem }) {
      if (problem) understood.textContent = `Your message was taken without the conversation before it: ${problem}`;
      else if (question !== asked) understood.replaceChildren("Understood as: ", make("b", {}, question));
    },

    /** A question and its answer, which is on the page now. */
    add({ index, question, follow_up, outcome, answer, sentence, verdict }) {
      const sure = outcome === "answered";
      turns.push({
        index,
        asked: follow_up?.asked ?? question,
        question,
        answer: sure ? answer : answer ? `${answer} (a guess)` : verdict,
        said: [!sure && verdict, sentence || answer].filter(Boolean).join(" "),
      });
      draw(turns.slice(0, -1));
    },

    clear() {
      turns = [];
      understood.textContent = "";
      draw(turns);
    },
  };
}
