// Signing in, and the first account: one form, sent as JSON.

import { byId } from "./elements.js";
import { page, send, tell } from "./requests.js";

const form = byId("account"), problem = byId("problem"), button = form.querySelector("button");

form.addEventListener("submit", async event => {
  event.preventDefault();
  tell(problem);
  button.disabled = true;
  const fields = { name: byId("name").value, password: byId("password").value };
  if ("setup" in page) fields.setup = page.setup;
  try {
    await send("POST", page.send, fields);
    location.assign(page.next);
  } catch (refusal) {
    tell(problem, refusal.message);
    button.disabled = false;
    byId(fields.name ? "password" : "name").focus();
  }
});
