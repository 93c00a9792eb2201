// Elements made from data. Text becomes text nodes, never markup: nothing a document says can run here.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** An HTML element; children are elements or strings, and `onclick` and its like are listeners. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export const byId = (id) => document.getElementById(id);

/** Show a section with new content. */
export function show(section, ...children) {
  section.replaceChildren(...children.flat(Infinity).filter(Boolean));
  section.hidden = false;
}

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

/** "A —predicate→ B", readable as one line by eye and by ear. */
export function fact([subject, predicate, object]) {
  return make(
    "span",
    { class: "fact" },
    make("b", {}, subject),
    " ",
    make("span", { class: "predicate" }, `—${predicate}→`),
    " ",
    make("b", {}, object),
  );
}

export const factText = ([subject, predicate, object]) => `${subject} —${predicate}→ ${object}`;
