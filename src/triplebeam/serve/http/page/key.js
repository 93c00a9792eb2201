// The dialog that asks for a key. The key itself is kept by api.js, in this tab alone.

import { byId } from "./dom.js";

/** A key from the user, or null. */
export function askForKey(why) {
  const dialog = byId("key-dialog");
  const field = byId("key");
  byId("key-why").textContent = why;
  field.value = "";
  return new Promise((resolve) => {
    let given = null;
    byId("key-form").onsubmit = () => {
      given = field.value.trim();
    };
    byId("key-cancel").onclick = () => dialog.close();
    dialog.onclose = () => {
      field.value = "";
      resolve(given || null);
    };
    dialog.showModal();
    field.focus();
  });
}
