// Written by Scripts/host-protocol from Web/host-protocol.txt: change that file.

// Calls a method of `page` for each command of a batch. Each text in the words is its length in UTF-16 units, in the order of `text`.
export function readBatch(words, text, page) {
  let at = 0;
  const next = count => { const start = at; at += count; return text.substring(start, at); };
  for (let i = 0; i < words.length;) {
    switch (words[i]) {
      case 1: page.atom(words[i + 1], next(words[i + 2])); i += 3; break;
      case 2: page.create(words[i + 1], words[i + 2]); i += 3; break;
      case 3: page.template(words[i + 1], words[i + 2], words.subarray(i + 4, i + 4 + words[i + 3])); i += 4 + words[i + 3]; break;
      case 4: page.clone(words[i + 1], words[i + 2]); i += 3; break;
      case 5: page.append(words[i + 1], words[i + 2]); i += 3; break;
      case 6: page.insert(words[i + 1], words[i + 2], words[i + 3]); i += 4; break;
      case 7: page.remove(words[i + 1]); i += 2; break;
      case 8: page.free(words[i + 1], words[i + 2]); i += 3; break;
      case 9: page.classes(words[i + 1], words[i + 2]); i += 3; break;
      case 10: page.text(words[i + 1], next(words[i + 2])); i += 3; break;
      case 11: page.attribute(words[i + 1], words[i + 2], next(words[i + 3])); i += 4; break;
      case 12: page.noAttribute(words[i + 1], words[i + 2]); i += 3; break;
      case 13: page.variable(words[i + 1], words[i + 2], words[i + 3]); i += 4; break;
      case 14: page.style(words[i + 1], words[i + 2], next(words[i + 3])); i += 4; break;
      case 15: page.value(words[i + 1], next(words[i + 2])); i += 3; break;
      case 16: page.image(words[i + 1], next(words[i + 2])); i += 3; break;
      case 17: page.focus(words[i + 1]); i += 2; break;
      case 18: page.listen(words[i + 1], words[i + 2], words[i + 3]); i += 4; break;
      case 19: page.mark(words[i + 1], next(words[i + 2])); i += 3; break;
      case 20: page.height(words[i + 1], words[i + 2]); i += 3; break;
      case 21: page.width(words[i + 1], words[i + 2]); i += 3; break;
      case 22: page.translateY(words[i + 1], words[i + 2]); i += 3; break;
      case 23: page.scrollTop(words[i + 1], words[i + 2]); i += 3; break;
      case 24: page.fitContent(words[i + 1], words[i + 2]); i += 3; break;
      case 25: page.caret(words[i + 1], words[i + 2]); i += 3; break;
      default: throw new Error('unknown command ' + words[i]);
    }
  }
}

// By number.
export const eventNames = ['click', 'input', 'keyDown', 'scroll', 'resize', 'files', 'focus', 'blur', 'change', 'submit', 'contextMenu', 'pointerOver', 'swipe', 'hold', 'aside', 'reorder', 'drag'];

export const pageChanges = { online: 0, attention: 1, fragment: 2, colourScheme: 3, leaving: 4, quickSwitch: 5, shortcuts: 6, escape: 7 };

export const pageStates = { online: 1, visible: 2, focused: 4, dark: 8, reducedMotion: 16, rightToLeft: 32, canCall: 64, canBePushedTo: 128, canShare: 256, narrow: 512, canFloat: 1024, canScan: 2048, canSealMedia: 4096 };

// What a program imports from module `host`: read from its memory, and handed to the services.
export const imports = (program, calls) => ({
  apply: (words, wordsCount, text, textCount) => calls.apply(program.words(words, wordsCount), program.text(text, textCount)),
  measure: (nodes, nodesCount, heights, heightsCount) => calls.measure(program.words(nodes, nodesCount), program.floats(heights, heightsCount)),
  scroll_top: (node) => calls.scroll_top(node),
  release: (id) => calls.release(id),
  log: (line, lineCount) => calls.log(program.text(line, lineCount)),
  monotonic: () => calls.monotonic(),
  wall: () => calls.wall(),
  random: (bytes, bytesCount) => calls.random(program.bytes(bytes, bytesCount)),
  random_key: (out, capacity) => program.give(calls.random_key(), out, capacity),
  timer: (id, milliseconds) => calls.timer(id, milliseconds),
  next_frame: (id) => calls.next_frame(id),
  part_is_missing: (name, nameCount) => calls.part_is_missing(program.text(name, nameCount)),
  part_load: (id, name, nameCount) => calls.part_load(id, program.text(name, nameCount)),
  setting_get: (key, keyCount, out, capacity) => program.give(calls.setting_get(program.text(key, keyCount)), out, capacity),
  setting_set: (key, keyCount, value, valueCount) => calls.setting_set(program.text(key, keyCount), program.text(value, valueCount)),
  setting_remove: (key, keyCount) => calls.setting_remove(program.text(key, keyCount)),
  page_language: (out, capacity) => program.give(calls.page_language(), out, capacity),
  page_languages: (out, capacity) => program.give(calls.page_languages(), out, capacity),
  page_texts: (out, capacity) => program.give(calls.page_texts(), out, capacity),
  plural_form: (count) => calls.plural_form(count),
  utc_offset: (milliseconds) => calls.utc_offset(milliseconds),
  format_clock: (milliseconds, out, capacity) => program.give(calls.format_clock(milliseconds), out, capacity),
  format_day: (milliseconds, out, capacity) => program.give(calls.format_day(milliseconds), out, capacity),
  format_date: (milliseconds, out, capacity) => program.give(calls.format_date(milliseconds), out, capacity),
  format_date_time: (milliseconds, out, capacity) => program.give(calls.format_date_time(milliseconds), out, capacity),
  format_short: (milliseconds, out, capacity) => program.give(calls.format_short(milliseconds), out, capacity),
  format_month: (milliseconds, out, capacity) => program.give(calls.format_month(milliseconds), out, capacity),
  format_day_of_year: (milliseconds, out, capacity) => program.give(calls.format_day_of_year(milliseconds), out, capacity),
  format_byte_count: (count, out, capacity) => program.give(calls.format_byte_count(count), out, capacity),
  page_state: () => calls.page_state(),
  page_listen: (id) => calls.page_listen(id),
  page_fragment: (out, capacity) => program.give(calls.page_fragment(), out, capacity),
  page_origin: (out, capacity) => program.give(calls.page_origin(), out, capacity),
  page_query: (out, capacity) => program.give(calls.page_query(), out, capacity),
  page_address: (out, capacity) => program.give(calls.page_address(), out, capacity),
  page_embedding: (out, capacity) => program.give(calls.page_embedding(), out, capacity),
  page_browser_name: (out, capacity) => program.give(calls.page_browser_name(), out, capacity),
  page_kept_word: (out, capacity) => program.give(calls.page_kept_word(), out, capacity),
  page_keep_word: (word, wordCount) => calls.page_keep_word(program.text(word, wordCount)),
  page_set_fragment: (fragment, fragmentCount, isReplacing) => calls.page_set_fragment(program.text(fragment, fragmentCount), isReplacing),
  page_open: (url, urlCount) => calls.page_open(program.text(url, urlCount)),
  page_reload: () => calls.page_reload(),
  page_clear_query: () => calls.page_clear_query(),
  page_leave: (url, urlCount) => calls.page_leave(program.text(url, urlCount)),
  clipboard_write: (id, text, textCount) => calls.clipboard_write(id, program.text(text, textCount)),
  notification_permission: () => calls.notification_permission(),
  notification_ask: (id) => calls.notification_ask(id),
  object_url: (file, out, capacity) => program.give(calls.object_url(file), out, capacity),
  revoke_url: (url, urlCount) => calls.revoke_url(program.text(url, urlCount)),
  channel_open: (id, name, nameCount) => calls.channel_open(id, program.text(name, nameCount)),
  channel_post: (id, message, messageCount) => calls.channel_post(id, program.copy(message, messageCount)),
  lock: (id, name, nameCount) => calls.lock(id, program.text(name, nameCount)),
  fetch: (id, head, headCount, body, bodyCount) => calls.fetch(id, program.text(head, headCount), program.copy(body, bodyCount)),
  store_open: (id, name, nameCount) => calls.store_open(id, program.text(name, nameCount)),
  store_read: (store, id, range, rangeCount) => calls.store_read(store, id, program.copy(range, rangeCount)),
  store_write: (store, id, batch, batchCount) => calls.store_write(store, id, program.copy(batch, batchCount)),
  look_apply: () => calls.look_apply(),
  page_set_title: (title, titleCount) => program.ask('attention.js', 'page_set_title', 0, [program.text(title, titleCount)]),
  page_set_badge: (count) => program.ask('attention.js', 'page_set_badge', 0, [count]),
  notification_show: (id, fields, fieldsCount) => program.ask('attention.js', 'notification_show', id, [id, program.texts(fields, fieldsCount)]),
  notification_withdraw: (tag, tagCount) => program.ask('attention.js', 'notification_withdraw', 0, [program.text(tag, tagCount)]),
  notification_sound: () => program.ask('attention.js', 'notification_sound', 0, []),
  image_access: (fields, fieldsCount) => program.ask('media.js', 'image_access', 0, [program.texts(fields, fieldsCount)]),
  download: (id, fields, fieldsCount) => program.ask('media.js', 'download', id, [id, program.texts(fields, fieldsCount)]),
  share: (id, fields, fieldsCount) => program.ask('media.js', 'share', id, [id, program.texts(fields, fieldsCount)]),
  share_link: (fields, fieldsCount) => program.ask('media.js', 'share_link', 0, [program.texts(fields, fieldsCount)]),
  play: (id, url, urlCount) => program.ask('sound.js', 'play', id, [id, program.text(url, urlCount)]),
  player_play: (id) => program.ask('sound.js', 'player_play', id, [id]),
  player_pause: (id) => program.ask('sound.js', 'player_pause', id, [id]),
  player_seek: (id, fraction) => program.ask('sound.js', 'player_seek', id, [id, fraction]),
  player_set_rate: (id, rate) => program.ask('sound.js', 'player_set_rate', id, [id, rate]),
  pick_files: (id, accept, acceptCount, isMultiple) => program.ask('file-service.js', 'pick_files', id, [id, program.text(accept, acceptCount), isMultiple]),
  file_keep: (file, name, nameCount) => program.ask('file-service.js', 'file_keep', 0, [file, program.text(name, nameCount)]),
  file_drop: (name, nameCount) => program.ask('file-service.js', 'file_drop', 0, [program.text(name, nameCount)]),
  file_drop_all: () => program.ask('file-service.js', 'file_drop_all', 0, []),
  file_find: (id, name, nameCount) => program.ask('file-service.js', 'file_find', id, [id, program.text(name, nameCount)]),
  file_read: (id, file, limit) => program.ask('file-service.js', 'file_read', id, [id, file, limit]),
  upload: (id, file, head, headCount) => program.ask('file-service.js', 'upload', id, [id, file, program.text(head, headCount)]),
  upload_encrypted: (id, file, head, headCount) => program.ask('file-service.js', 'upload_encrypted', id, [id, file, program.text(head, headCount)]),
  locate: (id) => program.ask('capture.js', 'locate', id, [id]),
  record: (id) => program.ask('capture.js', 'record', id, [id]),
  watch: (id, view) => program.ask('capture.js', 'watch', id, [id, view]),
  record_finish: (id) => program.ask('capture.js', 'record_finish', id, [id]),
  scan: (id, view) => program.ask('capture.js', 'scan', id, [id, view]),
  media_open: (id) => program.ask('call-media.js', 'media_open', id, [id]),
  media_do: (id, effect, effectCount) => program.ask('call-media.js', 'media_do', id, [id, program.text(effect, effectCount)]),
  media_show: (id, node, stream, streamCount) => program.ask('call-media.js', 'media_show', id, [id, node, program.text(stream, streamCount)]),
  socket_open: (id, url, urlCount) => program.ask('call-media.js', 'socket_open', id, [id, program.text(url, urlCount)]),
  socket_send: (id, text, textCount) => program.ask('call-media.js', 'socket_send', id, [id, program.text(text, textCount)]),
  capture_permission: (id, kinds) => program.ask('call-preview.js', 'capture_permission', id, [id, kinds]),
  preview_open: (id, view) => program.ask('call-preview.js', 'preview_open', id, [id, view]),
  preview_use: (id, kinds, camera, cameraCount, microphone, microphoneCount) => program.ask('call-preview.js', 'preview_use', id, [id, kinds, program.text(camera, cameraCount), program.text(microphone, microphoneCount)]),
  encryption_open: (id) => program.ask('encryption.js', 'encryption_open', id, [id]),
  encryption_send: (id, message, messageCount) => program.ask('encryption.js', 'encryption_send', id, [id, program.copy(message, messageCount)]),
  storage_keep: (id, asks) => program.ask('encryption.js', 'storage_keep', id, [id, asks]),
  push_subscribe: (id, key, keyCount) => program.ask('errands.js', 'push_subscribe', id, [id, program.text(key, keyCount)]),
  push_unsubscribe: () => program.ask('errands.js', 'push_unsubscribe', 0, []),
  event_save: (entry, entryCount) => program.ask('calendar.js', 'event_save', 0, [program.text(entry, entryCount)]),
  export_open: (id, name, nameCount, type, typeCount) => program.ask('exports.js', 'export_open', id, [id, program.text(name, nameCount), program.text(type, typeCount)]),
  export_keep: (id, file, bytes, bytesCount) => program.ask('exports.js', 'export_keep', id, [id, file, program.copy(bytes, bytesCount)]),
  export_read: (id, file, ranges, rangesCount) => program.ask('exports.js', 'export_read', id, [id, file, program.text(ranges, rangesCount)]),
  export_write: (id, file, bytes, bytesCount) => program.ask('exports.js', 'export_write', id, [id, file, program.copy(bytes, bytesCount)]),
  export_finish: (id, file) => program.ask('exports.js', 'export_finish', id, [id, file]),
});

// Services that are fetched when they are first asked for something.
export const laterFiles = {
  'attention.js': () => import('./attention.js'),
  'media.js': () => import('./media.js'),
  'sound.js': () => import('./sound.js'),
  'file-service.js': () => import('./file-service.js'),
  'capture.js': () => import('./capture.js'),
  'call-media.js': () => import('./call-media.js'),
  'call-preview.js': () => import('./call-preview.js'),
  'encryption.js': () => import('./encryption.js'),
  'errands.js': () => import('./errands.js'),
  'calendar.js': () => import('./calendar.js'),
  'exports.js': () => import('./exports.js'),
};
