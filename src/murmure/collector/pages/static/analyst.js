// What every page of an analyst has: signing out.

import { byId } from "./elements.js";
import { send } from "./requests.js";

byId("sign-out")?.addEventListener("click", async () => {
  try {
    await send("DELETE", "/api/session");
  } finally {
    location.assign("/");
  }
});
