// What an answer means as a date, and how dates are written: the same as src/murmure/core/cells/parsed_dates.py.
//   a date      the text of ISO 8601, as forms give it: 2024-03-05, or with a time 2024-03-05T10:20
//   a period    where the unit is no finer: 2024-W10 (weeks), 2024-03 (months, years), 2024 as text or number (years)
//   null        what is missing elsewhere, and the text "NaT"
//   UNKNOWN     anything else: 2024-02-30, 05/03/2024, a Date, which is another day in another time zone
//
// Periods are numbered from that of 1 January 1970, which has the number 0. Weeks start on Monday, and the year of a week
// is that of its Thursday.

import { UNKNOWN, meaning, stripped } from "./meaning.js";

const DAY = 86400000, LAST_YEAR = 9999;
const HOUR = "(?:[01][0-9]|2[0-3])", SIXTY = "[0-5][0-9]";
const TIME = `[T ]${HOUR}:${SIXTY}(?::${SIXTY}(?:\\.[0-9]+)?)?(?:Z|[+-]${HOUR}(?::?${SIXTY})?)?`;
const DATE = `([0-9]{4})-([0-9]{2})-([0-9]{2})(?:${TIME})?`;
const WEEK = /^([0-9]{4})-W([0-9]{2})$/;
const SPELLINGS = { // year, month and day, as far as they are given
  day: new RegExp(`^${DATE}$`),
  week: new RegExp(`^${DATE}$`),
  month: new RegExp(`^(?:${DATE}|([0-9]{4})-([0-9]{2}))$`),
  year: new RegExp(`^(?:${DATE}|([0-9]{4})-([0-9]{2})|([0-9]{4}))$`),
};
export const UNITS = Object.keys(SPELLINGS);

/** The number of the period that an answer lies in. */
export function dateMeaning(unit, answer) {
  if (typeof answer === "string") {
    const word = stripped(answer).replace(/^\x1a/, "");
    if (/^[nN][aA][tT]$/.test(word)) return null;
    const period = periodOfWord(unit, word);
    if (period !== null) return period;
  }
  const meant = meaning(answer);
  if (unit === "year" && Number.isInteger(meant) && meant >= 1 && meant <= LAST_YEAR) return meant - 1970;
  return meant === null ? null : UNKNOWN;
}

function periodOfWord(unit, word) {
  const week = unit === "week" ? WEEK.exec(word) : null;
  if (week !== null) return weekNumber(Number(week[1]), Number(week[2]));
  const parts = SPELLINGS[unit].exec(word)?.slice(1).filter(part => part !== undefined).map(Number);
  if (parts === undefined) return null;
  const [year, month = 1, day = 1] = parts, days = dayNumber(year, month, day);
  if (days === null) return null;
  return { day: days, week: weekOfDay(days), month: 12 * (year - 1970) + month - 1, year: year - 1970 }[unit];
}

/** Days since 1970; null: the calendar has no such day. */
function dayNumber(year, month, day) {
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day); // not Date.UTC, which takes the year 24 for 1924
  return year >= 1 && at.getUTCMonth() === month - 1 ? at.getTime() / DAY : null; // 30 February is in March
}

/** 1 January 1970 was a Thursday. */
function weekOfDay(days) {
  return Math.floor((days + 3) / 7);
}

/** The week of 4 January is a year's first. Week 0, and in most years week 53, belong to another year: null. */
function weekNumber(year, week) {
  const first = dayNumber(year, 1, 4), number = weekOfDay(first) + week - 1;
  return first !== null && yearOfWeek(number) === year ? number : null;
}

function yearOfWeek(number) {
  return new Date(7 * number * DAY).getUTCFullYear(); // its Thursday
}

/** The name of a period: 2024-03-05, 2024-W10, 2024-03 or 2024. */
export function labelOf(unit, number) {
  const pad = (value, width) => String(value).padStart(width, "0");
  if (unit === "week") {
    const year = yearOfWeek(number);
    return `${pad(year, 4)}-W${pad(number - weekOfDay(dayNumber(year, 1, 4)) + 1, 2)}`;
  }
  if (unit === "day") return new Date(number * DAY).toISOString().slice(0, 10);
  const year = pad(1970 + (unit === "year" ? number : Math.floor(number / 12)), 4);
  return unit === "year" ? year : `${year}-${pad((number % 12 + 12) % 12 + 1, 2)}`;
}
