// One job of the server, followed until it has ended.

import { events, isStopped, post, Problem } from "./api.js";
import { make } from "./dom.js";

/** A row that follows a job. `ended(job)` is called at its end, `failed(message)` when it cannot be followed. */
export function jobRow(job, what, { ended, failed }) {
  const bar = make("progress", { max: 1, "aria-label": `Progress of ${what}` });
  const state = make("span", { class: "note", role: "status" }, "waiting");
  const cancel = make(
    "button",
    {
      type: "button",
      class: "link",
      "aria-label": `Cancel ${what}`,
      onclick: async () => {
        cancel.disabled = true;
        try {
          await post(`/api/jobs/${job.id}/cancel`);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          failed(error.message);
        }
      },
    },
    "Cancel",
  );
  const row = make("li", { class: "job" }, make("span", { class: "name" }, what), cancel, bar, state);
  followed(
    job,
    (now) => update(now, bar, state),
    () => {
      bar.remove();
      cancel.remove();
    },
  ).then(ended, (error) => {
    if (!isStopped(error)) failed(error.message);
  });
  return row;
}

async function followed(job, told, over) {
  for await (const { name, data } of events(`/api/jobs/${job.id}/events`)) {
    told(data);
    if (name === "end") {
      over();
      return data;
    }
  }
  throw new Problem("broken_off", "The job can no longer be followed: open Documents again to see its progress.");
}

function update({ state, stage, done, total, message }, bar, label) {
  if (total) {
    bar.max = total;
    bar.value = done;
  } else bar.removeAttribute("value");
  const running = stage
    ? `${stage} ${total ? `${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : ""}`
    : "beginning";
  const words = {
    waiting: "waiting",
    running,
    done: `Done: ${message}`,
    failed: `Failed: ${message}`,
    cancelled: `Cancelled: ${message}`,
  };
  label.textContent = words[state];
}
