// How moments and sizes are said in the reader's language.

import { locale } from './language.js';

const formats = new Map();

function format(name, options) {
  if (!formats.has(name)) formats.set(name, new Intl.DateTimeFormat(locale, options));
  return formats.get(name);
}

// Any number is a moment: what lies beyond the calendar counts as its end.
const moment = ms => new Date(Math.max(-8.64e15, Math.min(8.64e15, ms)) || 0);
const clock = date => format('clock', { hour: 'numeric', minute: '2-digit' }).format(date);
const dayNumber = date => Math.floor((date.getTime() - date.getTimezoneOffset() * 60_000) / 86_400_000);

function dayLabel(date) {
  const now = new Date(), age = dayNumber(now) - dayNumber(date);
  if (age === 0 || age === 1) {
    const word = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(-age, 'day');
    return word.charAt(0).toLocaleUpperCase(locale) + word.slice(1);
  }
  const sameYear = now.getFullYear() === date.getFullYear();
  return sameYear ? format('day', { weekday: 'long', day: 'numeric', month: 'long' }).format(date)
    : format('year', { day: 'numeric', month: 'long', year: 'numeric' }).format(date);
}

function shortLabel(date) {
  const age = dayNumber(new Date()) - dayNumber(date);
  if (age === 0) return clock(date);
  if (age < 0) {
    const day = age > -7 ? { weekday: 'short' } : { day: 'numeric', month: 'numeric' };
    return format('soon' + (age > -7), { ...day, hour: 'numeric', minute: '2-digit' }).format(date);
  }
  if (age > 0 && age < 7) return format('weekday', { weekday: 'short' }).format(date);
  return format('date', { day: 'numeric', month: 'numeric', year: '2-digit' }).format(date);
}

function byteLabel(count) {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
  let unit = 0;
  while (count >= 1000 && unit < 3) { count /= 1000; unit++; }
  return new Intl.NumberFormat(locale, { style: 'unit', unit: units[unit], unitDisplay: unit === 0 ? 'long' : 'short', maximumFractionDigits: count < 10 && unit > 0 ? 1 : 0 }).format(count);
}

export const dateService = () => ({
  utc_offset: ms => -moment(ms).getTimezoneOffset(),
  format_clock: ms => clock(moment(ms)),
  format_day: ms => dayLabel(moment(ms)),
  format_date: ms => format('date long', { dateStyle: 'full' }).format(moment(ms)),
  format_date_time: ms => format('full', { dateStyle: 'full', timeStyle: 'short' }).format(moment(ms)),
  format_short: ms => shortLabel(moment(ms)),
  format_month: ms => format('month', { month: 'long', year: 'numeric' }).format(moment(ms)),
  format_day_of_year: ms => format('day of year', { day: 'numeric', month: 'long' }).format(moment(ms)),
  format_byte_count: byteLabel,
});
