// Documents to add and delete, and indexes to put them in: a dialog that closes with Escape.

import { get, Problem, post, remove, sendFiles, within } from "./api.js";
import { make, plural } from "./dom.js";
import { jobRow } from "./job_row.js";

const PAGE = 50;
const JOBS = { delete: "Deletion", correct: "Corrections", compact: "Compacting" };
const KINDS = ".txt,.md,.markdown,.html,.htm,.pdf,.docx,.jsonl,.jsonl.gz";

/** The dialog. `page` has what it needs of the rest: `refresh, current`. */
export function documentsDialog(dialog, page) {
  const parts = build(dialog);
  const view = { ...parts, dialog, page, followed: new Set() };
  parts.picker.onchange = () => {
    upload(view, [...parts.picker.files]);
    parts.picker.value = "";
  };
  parts.create.onsubmit = (event) => {
    event.preventDefault();
    createIndex(view);
  };
  takeDrops(view);
  return { open: () => open(view) };
}

function build(dialog) {
  const picker = make("input", { type: "file", multiple: true, accept: KINDS, id: "files" });
  const facts = make(
    "select",
    { id: "extractor" },
    make("option", { value: "" }, "the index's own extractor"),
    make("option", { value: "local" }, "rules on the server"),
    make("option", { value: "llm" }, "its language model"),
    make("option", { value: "none" }, "nothing"),
  );
  const drop = make(
    "div",
    { class: "drop" },
    make("p", {}, make("label", { for: "files" }, "Add files"), " or drop them here"),
    picker,
    make("p", { class: "note" }, make("label", { for: "extractor" }, "Extract facts with "), facts),
  );
  const name = make("input", {
    id: "new-name",
    required: true,
    maxlength: 64,
    pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]*",
    autocomplete: "off",
  });
  const create = make(
    "form",
    { class: "create" },
    make("label", { for: "new-name" }, "New index"),
    name,
    make("button", { class: "quiet" }, "Create"),
  );
  const title = make("h2", { id: "documents-title" }, "Documents");
  const [problem, note, jobs, list, more] = [
    make("p", { class: "problem", role: "alert" }),
    make("p", { class: "note", role: "status" }),
    make("ul", { class: "jobs" }),
    make("ul", { class: "document-list" }),
    make("button", { type: "button", class: "quiet", hidden: true }, "Show more"),
  ];
  const close = make(
    "button",
    { type: "button", class: "quiet close", "aria-label": "Close", onclick: () => dialog.close() },
    "×",
  );
  dialog.replaceChildren(
    make("div", { class: "panel-head" }, title, close),
    problem,
    drop,
    jobs,
    create,
    note,
    list,
    more,
  );
  return { picker, facts, drop, name, create, title, problem, note, jobs, list, more };
}

/** Do something; what goes wrong is told within the dialog. */
async function attempt(view, work) {
  view.problem.textContent = "";
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    view.problem.textContent = error.message;
    return null;
  }
}

async function open(view) {
  if (!view.dialog.open) view.dialog.showModal();
  await attempt(view, async () => {
    const known = await view.page.refresh();
    view.create.hidden = !known.can_create;
    view.facts.options[1].disabled = !known.can_ask;
    await fill(view);
  });
}

async function fill(view) {
  const index = view.page.current();
  view.title.textContent = index ? `Documents of ${index}` : "Documents";
  view.drop.hidden = !index;
  view.list.replaceChildren();
  view.more.hidden = true;
  if (!index) {
    view.note.textContent = "There is no index yet: create one above.";
    return;
  }
  const { jobs } = await get(within(index));
  for (const job of jobs) if (["waiting", "running"].includes(job.state)) follow(view, job);
  await listMore(view, index);
}

/** Only the latest call adds to the list: a job may end while another page is on its way. */
async function listMore(view, index) {
  const own = Symbol("listing");
  view.listing = own;
  view.more.hidden = true;
  const { documents, total } = await get(
    `${within(index, "documents")}?${new URLSearchParams({ offset: view.list.childElementCount, limit: PAGE })}`,
  );
  if (view.listing !== own) return;
  view.list.append(...documents.map((each) => documentRow(view, index, each)));
  view.note.textContent = total ? plural(total, "document") : "No documents yet.";
  view.more.hidden = view.list.childElementCount >= total;
  view.more.onclick = async () => {
    const before = view.list.childElementCount;
    await attempt(view, () => listMore(view, index));
    view.list.children[before]?.querySelector("button").focus();
  };
}

/** The first press asks, the second deletes. */
function documentRow(view, index, { id, title, passages }) {
  const button = make(
    "button",
    {
      type: "button",
      class: "link",
      "aria-label": `Delete ${id}`,
      onclick: async () => {
        if (!button.dataset.sure) {
          button.dataset.sure = "yes";
          button.textContent = "Really delete?";
          button.setAttribute("aria-label", `Really delete ${id}?`);
          return;
        }
        const reply = await attempt(view, () => remove(within(index, "documents", id)));
        if (reply) {
          button.disabled = true;
          follow(view, reply.job);
        }
      },
      onblur: () => {
        delete button.dataset.sure;
        button.textContent = "Delete";
        button.setAttribute("aria-label", `Delete ${id}`);
      },
    },
    "Delete",
  );
  return make(
    "li",
    {},
    make("span", { class: "name" }, title || id, title && title !== id && make("span", { class: "note" }, ` ${id}`)),
    make("span", { class: "note" }, plural(passages, "passage")),
    button,
  );
}

async function upload(view, files) {
  const index = view.page.current();
  if (!files.length || !index) return;
  view.note.textContent = `Sending ${plural(files.length, "file")} …`;
  const reply = await attempt(view, () =>
    sendFiles(within(index, "documents"), files, { extractor: view.facts.value }),
  );
  view.note.textContent = "";
  if (reply) follow(view, reply.job, files.map((file) => file.name).join(", "));
}

function follow(view, job, what) {
  if (view.followed.has(job.id)) return;
  view.followed.add(job.id);
  view.jobs.prepend(
    jobRow(job, what ?? JOBS[job.kind] ?? "New documents", {
      ended: () =>
        attempt(view, async () => {
          await view.page.refresh();
          await fill(view);
        }),
      failed: (message) => {
        view.problem.textContent = message;
      },
    }),
  );
}

async function createIndex(view) {
  const name = view.name.value.trim();
  await attempt(view, async () => {
    await post("/api/indexes", { name });
    view.name.value = "";
    await view.page.refresh(name);
    await fill(view);
    view.picker.focus();
  });
}

/** Files dropped anywhere on the page open the dialog and are sent. */
function takeDrops(view) {
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  window.addEventListener("dragover", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    view.drop.classList.add("over");
  });
  window.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) view.drop.classList.remove("over");
  });
  window.addEventListener("drop", async (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    view.drop.classList.remove("over");
    const files = [...event.dataTransfer.files];
    await open(view);
    await upload(view, files);
  });
}
