import MatrixModel

/// Pages of history that did not come because of the connection or a server in trouble. They are asked for again by themselves, so that
/// nobody has to press anything once the network is back.
struct InterruptedPages: Sendable {
  enum Place: Sendable, Equatable {
    case gap(TimelineKey, ItemID)
    case back(TimelineKey)
    case forward(TimelineKey)
  }

  var places: [Place] = []
  var timer: TimerID?
  var backoff = Backoff()
}

extension Client {
  /// Asks again after a while; after too many failures in a row only when the connection is back.
  mutating func retryLater(_ place: InterruptedPages.Place, after answer: Answer) {
    guard answer.isTransient else { return }
    if !interruptedPages.places.contains(place) {
      if interruptedPages.places.count >= Limits.interruptedPages { interruptedPages.places.removeFirst() }
      interruptedPages.places.append(place)
    }
    guard isOnline, interruptedPages.timer == nil, interruptedPages.backoff.failures < Limits.pageRetries else { return }
    let delay = interruptedPages.backoff.next(&random, retryAfterMilliseconds: answer.retryAfterMilliseconds)
    interruptedPages.timer = startTimer(delay, .interruptedPages)
  }

  mutating func pageArrived() { interruptedPages.backoff.reset() }

  /// The connection is back.
  mutating func retryPagesNow() {
    var timer = interruptedPages.timer
    cancelTimer(&timer)
    interruptedPages.timer = nil
    interruptedPages.backoff.reset()
    retryPages()
  }

  /// What was closed meanwhile, or asked for again by somebody, is left alone.
  mutating func retryPages() {
    let places = interruptedPages.places
    interruptedPages.places = []
    for place in places {
      switch place {
      case .gap(let key, let gap): fillGap(key, gap, 0)
      case .forward(let key): if timeline(key)?.forwardState == .failed { paginateForward(key, 0) }
      case .back(let key):
        guard let timeline = timeline(key), timeline.backState == .failed else { continue }
        if timeline.loadState == .failed { loadFirstPage(key, timeline.head) } else { paginateBack(key, 0) }
      }
    }
  }

  /// Of a thread.
  private mutating func loadFirstPage(_ key: TimelineKey, _ edge: SegmentEdge) {
    rooms[key.room]?.change(key.focus) { timeline in
      timeline.loadState = .loading
      timeline.backState = .loading
    }
    notify(.room(key.room, .pagination))
    requestPage(key, PagePlace(gap: nil, edge: edge), 0, emptyPages: 0)
  }
}
