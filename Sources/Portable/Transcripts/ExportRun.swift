import ClientCore
import JSON
import MatrixModel

/// The export of a room, without I/O: says what to do next, and is told how that ended. A step that failed can be tried again,
/// because it stays the next one until it is answered.
///
/// The history is fetched once, oldest first. JSON lines are written as they come. For a page they are kept aside first: what
/// later events say of earlier ones (edits, reactions, replies) is noted on the way, and the page is then written from the kept lines.
package struct ExportRun {
  package enum Format: Sendable {
    case html, jsonLines

    package var fileEnding: String { self == .html ? ".html" : ".jsonl" }
    package var mediaType: String { self == .html ? "text/html" : "application/x-ndjson" }
  }

  package enum Step: Equatable {
    /// Find the first event at or after a time, in milliseconds since 1970, and answer with `begins`.
    case findStart(Int64)
    /// Fetch a page of the history forwards; from nil is its beginning. Answer with `took`.
    case fetch(from: ByteString?)
    /// Keep bytes aside, behind those that were kept before. Answer with `done`.
    case keep([UInt8])
    /// Read kept bytes again. Answer with `read`.
    case read([Range<Int64>])
    /// Write bytes to the file. Answer with `done`.
    case write([UInt8])
    case finish
  }

  package static var pageEvents: Int { 500 }
  /// Pages of the history that are fetched at most: a server could go on for ever.
  package static var pagesLimit: Int { 20_000 }
  /// Edits, reactions and answered messages of a room that are kept in memory.
  private static var relationsLimit: Int { 200_000 }

  package private(set) var next: Step
  /// Events that are part of the export.
  package private(set) var count = 0
  /// Whether the export ends early because the room is larger than `pagesLimit`.
  package private(set) var isCut = false
  package let format: Format

  private let since: Int64
  private let until: Int64
  private let now: Int64
  private let room: RoomID?
  private let head: (title: String, topic: String?, about: String)
  private let words: TranscriptWords
  private var relations = ExportRelations(limit: ExportRun.relationsLimit)
  private var transcript: HTMLTranscript?
  private var pages = 0
  private var from: ByteString?
  private var isAtEnd = false
  private var firstTime: Int64?
  private var lastTime: Int64 = 0
  /// Where each page stands among the kept bytes, and how many of them are written.
  private var kept: [Range<Int64>] = []
  private var keptCount: Int64 = 0
  private var writtenPages = 0
  /// The events of a page that wait for their edits.
  private var waiting: [Event] = []

  /// - Parameters:
  ///   - since: milliseconds since 1970; earlier events are left out.
  ///   - until: later events, and those at this time, are left out.
  ///   - now: milliseconds since 1970, for the progress.
  ///   - room: written into each line of JSON; nil if the file is of one room.
  package init(
    _ format: Format, since: Int64?, until: Int64?, now: Int64, title: String, topic: String?, about: String,
    room: RoomID? = nil, words: TranscriptWords
  ) {
    self.format = format
    self.since = since ?? .min
    self.until = until ?? .max
    self.now = now
    self.room = room
    head = (title, topic, about)
    self.words = words
    next = since.map { .findStart($0) } ?? .fetch(from: nil)
  }

  /// How much is done, 0...1, by the times of the events.
  package var progress: Double {
    guard let firstTime else { return 0 }
    let start = Double(max(firstTime, since))
    let whole = Double(min(now, until)) - start
    let part = whole > 0 ? (Double(lastTime) - start) / whole : 1
    return isAtEnd ? 1 : max(0, min(1, part))
  }

  // MARK: Answers

  /// - Parameter token: for `fetch`; nil if nothing was sent since then.
  package mutating func begins(at token: ByteString?) {
    guard case .findStart = next else { return }
    if let token { next = .fetch(from: token) } else { endHistory() }
  }

  package mutating func took(_ events: [Event], next token: ByteString?) {
    guard case .fetch(let asked) = next else { return }
    pages += 1
    var lines: [UInt8] = []
    // Clocks of senders differ: only a page of nothing but later events is the end.
    var isPast = !events.isEmpty
    for event in events {
      let time = event.originServerTimestamp ?? 0
      if time < until { isPast = false }
      guard time >= since, time < until else { continue }
      add(event, time, to: &lines)
    }
    isCut = pages == Self.pagesLimit && token != nil && !isPast
    isAtEnd = token == nil || token == asked || events.isEmpty || isPast || isCut
    from = token
    guard !lines.isEmpty else { return afterPage() }
    if format == .jsonLines {
      next = .write(lines)
    } else {
      kept.append(keptCount - Int64(lines.count)..<keptCount)
      next = .keep(lines)
    }
  }

  private mutating func add(_ event: Event, _ time: Int64, to lines: inout [UInt8]) {
    let line = ExportLine(event, room: room).bytes
    if format == .html { relations.note(event, at: keptCount, count: line.count) }
    lines += line
    lines.append(UInt8(ascii: "\n"))
    keptCount += Int64(line.count) + 1
    count += 1
    firstTime = firstTime ?? time
    lastTime = max(lastTime, time)
  }

  /// The bytes are kept, or written.
  package mutating func done() {
    switch next {
    case .keep: afterPage()
    case .write where format == .jsonLines: afterPage()
    case .write: afterWriting()
    default: break
    }
  }

  /// - Parameter parts: the bytes of each range that was asked for.
  package mutating func read(_ parts: [[UInt8]]) {
    guard case .read = next else { return }
    if waiting.isEmpty { readPage(parts.first ?? []) } else { write(edits: parts) }
  }

  // MARK: The page

  private mutating func afterPage() {
    if isAtEnd { endHistory() } else { next = .fetch(from: from) }
  }

  private mutating func endHistory() {
    isAtEnd = true
    guard format == .html else {
      next = .finish
      return
    }
    var transcript = HTMLTranscript(words, relations)
    transcript.begin(title: head.title, topic: head.topic, about: head.about)
    next = .write(transcript.take())
    self.transcript = transcript
  }

  private mutating func afterWriting() {
    if writtenPages < kept.count {
      next = .read([kept[writtenPages]])
    } else if var transcript {
      transcript.end()
      next = .write(transcript.take())
      self.transcript = nil
    } else {
      next = .finish
    }
  }

  private mutating func readPage(_ lines: [UInt8]) {
    waiting = lines.split(separator: UInt8(ascii: "\n")).compactMap { Self.event(Array($0)) }
    let edits = waiting.compactMap { relations.edit(of: $0) }.map { $0.offset..<$0.offset + Int64($0.count) }
    if edits.isEmpty { write(edits: []) } else { next = .read(edits) }
  }

  /// - Parameter edits: of those that wait, in their order.
  private mutating func write(edits: [[UInt8]]) {
    var rest = edits[...]
    for event in waiting {
      let edit = relations.edit(of: event) == nil ? nil : rest.popFirst().flatMap { Self.event($0) }
      transcript?.add(event, edit: edit)
    }
    waiting = []
    writtenPages += 1
    next = .write(transcript?.take() ?? [])
  }

  private static func event(_ line: [UInt8]) -> Event? { (try? JSON.parse(line)).flatMap { Event($0) } }
}
