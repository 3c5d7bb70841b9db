// The projector: the room's figure follows the reports; one button turns the same page into the attack.

import { byId } from "./elements.js";
import { LivePart } from "./live.js";
import { page } from "./requests.js";

const button = byId("attack");
let attack = false;
const live = new LivePart(() => `${page.live}${attack ? "&attack=1" : ""}`);

button.addEventListener("click", () => {
  attack = !attack;
  [button.textContent, button.dataset.other] = [button.dataset.other, button.textContent];
  byId("room").classList.toggle("attacked", attack);
  if (live.paused) live.toggle();  // what was asked for must be shown
  else live.now();
});
