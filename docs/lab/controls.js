// A parameter is moved in two ways, and both are shown: a slider, and a field that takes "0,5", "1/3" or "ln 3".

import { checked } from "./address.js";
import { element } from "./elements.js";
import { plain } from "./numbers.js";

const STEPS = 200;  // of a slider on a logarithmic scale

const place = ({ min, max }, value) => Math.round(STEPS * Math.log(value / min) / Math.log(max / min));
const valueAt = ({ min, max, whole }, position) => {
  const value = min * (max / min) ** (position / STEPS);
  return whole && value < 100 ? Math.round(value) : Number(value.toPrecision(2));
};

/** One number. changed(value, notices) is called when somebody moves it. */
function numberControl(key, parameter, state, say, changed) {
  const name = say(`${state.panel}.${key}`);
  const { min, max, step } = parameter.log ? { min: 0, max: STEPS, step: 1 } : parameter;
  const slider = element("input", { type: "range", "aria-label": name, min, max, step });
  const typing = { inputmode: "decimal", autocomplete: "off", spellcheck: "false" };
  const field = element("input", { type: "text", id: `field-${key}`, ...typing });
  const show = (value, moved) => {
    if (moved !== slider) slider.value = parameter.log ? place(parameter, value) : value;
    if (parameter.atMost) slider.max = state.values[parameter.atMost];
    slider.setAttribute("aria-valuetext", say.number(value));
    if (moved !== field) field.value = say.lang === "fr" ? plain(value).replace(".", ",") : plain(value);
  };
  slider.addEventListener("input", () => {
    const value = parameter.log ? valueAt(parameter, Number(slider.value)) : Number(slider.value);
    changed(value, []);
    show(value, slider);
  });
  // "change", not "input": half a number that is still being typed is not a mistake
  field.addEventListener("change", () => {
    const notices = [];
    const value = checked(key, parameter, field.value, state.values, notices);
    changed(value, notices);
    show(value);
  });
  show(state.values[key]);
  const box = element("div", { class: "control" }, element("label", { for: field.id }, name), slider, field);
  return { box, refresh: () => document.activeElement === slider || show(state.values[key], document.activeElement) };
}

/** One of a few words. */
function choiceControl(key, parameter, state, say, changed) {
  const options = parameter.choices.map(choice => {
    const radio = element("input", { type: "radio", name: key, value: choice });
    radio.checked = state.values[key] === choice;
    radio.addEventListener("change", () => changed(choice, []));
    return { choice, radio, box: element("label", {}, radio, say(`${state.panel}.${key}.${choice}`)) };
  });
  const legend = element("legend", {}, say(`${state.panel}.${key}`));
  const box = element("fieldset", { class: "choice" }, legend, ...options.map(option => option.box));
  const refresh = allowed => {
    for (const { choice, radio, box: one } of options) {
      radio.checked = state.values[key] === choice;
      one.hidden = !allowed.includes(choice);
    }
    box.hidden = allowed.length < 2;
  };
  return { box, refresh };
}

/** All controls of a panel. allowed(key): the choices that make sense with the other values. */
export function controls(parameters, state, say, changed, allowed) {
  const built = Object.entries(parameters).map(([key, parameter]) => {
    const make = parameter.choices ? choiceControl : numberControl;
    return { key, parameter, ...make(key, parameter, state, say, (value, notices) => changed(key, value, notices)) };
  });
  const refresh = () => built.forEach(one => one.refresh(one.parameter.choices && allowed(one.key)));
  refresh();
  return { boxes: built.map(one => one.box), refresh };
}
