// What keeps the page from going on, said at its top.

import { byId, show } from "./elements.js";

/** A problem in words of the catalogue. */
export class Stop extends Error {
  constructor(speech, key, fields = {}) {
    super(key);
    this.sentence = speech.say(key, fields);
  }
}

/** An error of our own, or one of the client's refusals, which never hold an answer. */
export function tellProblem(error, ...more) {
  byId("problem").replaceChildren(error.sentence ?? error.message, ...more);
  show(byId("problem"));
}
