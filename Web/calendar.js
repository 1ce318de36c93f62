// Dates in messages as files for calendars. Source: RFC 5545.

export const service = () => ({
  event_save: saveEvent,
});

// Characters of an entry's title.
const titleLimit = 80;

const escaped = text => text.replace(/[\\;,]/g, '\\$&').replace(/[\x00-\x1f\x7f\s]+/g, ' ').trim();

// Lines have at most 75 bytes: one of 18 characters fits, whatever they are.
const folded = line => line.match(/.{1,18}/gsu).join('\r\n ');

const random = () => [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');

const stamp = date => date.toISOString().replace(/[-:]|\.\d+/g, '');

// `text`: a day, or a moment of the reader's time where it names no zone, and in the line behind it what the entry is called.
export function entry(text, now = new Date()) {
  const [moment, ...title] = text.split('\n');
  const isDay = moment.length === 10;
  const start = isDay ? 'DTSTART;VALUE=DATE:' + moment.replaceAll('-', '') : 'DTSTART:' + stamp(new Date(moment)) + '\r\nDURATION:PT1H';
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Martlet//Martlet//EN', 'BEGIN:VEVENT', 'UID:' + random(), 'DTSTAMP:' + stamp(now), start,
    folded('SUMMARY:' + escaped([...title.join(' ')].slice(0, titleLimit).join(''))), 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
}

function saveEvent(text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([entry(text)], { type: 'text/calendar' }));
  link.download = text.slice(0, 10) + '.ics';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
