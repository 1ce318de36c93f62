import CCurl
import CLinux
import Glibc
import Synchronization

/// libcurl's multi interface on a thread of its own. Transfers of one loop share connections, so those that may go to
/// different places need different loops.
final class CurlLoop: Sendable {
  private enum Job {
    case start(CurlTransfer)
    case cancel(CurlTransfer)
  }

  private struct State {
    var jobs: [Job] = []
    /// Transfers that were taken and have not ended.
    var underWay = 0
    var isStopping = false
    /// Those who wait for the end of the thread.
    var waiting: [CheckedContinuation<Void, Never>] = []
    var hasEnded = false
  }

  /// `curl_multi_wakeup` may be called from any thread until `hasEnded`; everything else happens on the loop's thread.
  private struct Multi: @unchecked Sendable { let handle: UnsafeMutableRawPointer }

  private let state = Mutex(State())
  private let multi: Multi
  private let requestsLimit: Int

  init(name: String, _ configuration: OutboundConfiguration) {
    // The first call is the one that counts; it is safe on several threads since libcurl 7.84.
    curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    guard let handle = curl_multi_init() else { preconditionFailure("libcurl has no memory to start") }
    martlet_curl_multi_set_long(handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, configuration.connectionsLimit)
    martlet_curl_multi_set_long(handle, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connectionsPerHostLimit)
    martlet_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, configuration.connectionsLimit)
    multi = Multi(handle: handle)
    requestsLimit = configuration.requestsLimit
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    precondition(error == 0, "no thread for requests to other servers")
    _ = clinux_name_thread(thread, name)
    pthread_detach(thread)
  }

  /// Takes a transfer, which ends by `CurlTransfer.finish` in any case: at once where the loop is full or stopping.
  func start(_ transfer: CurlTransfer) {
    let refusal: OutboundError? = state.withLock { state in
      if state.isStopping { return .shutDown }
      guard state.underWay < requestsLimit else { return .tooBusy }
      state.underWay += 1
      state.jobs.append(.start(transfer))
      curl_multi_wakeup(multi.handle)
      return nil
    }
    if let refusal { transfer.finish(.failure(refusal)) }
  }

  func cancel(_ transfer: CurlTransfer) {
    state.withLock { state in
      guard !state.isStopping else { return }
      state.jobs.append(.cancel(transfer))
      curl_multi_wakeup(multi.handle)
    }
  }

  /// Ends what is under way with `shutDown`, and returns once the thread has let go of everything.
  func stop() async {
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        if state.hasEnded { return true }
        state.waiting.append(continuation)
        if !state.isStopping {
          state.isStopping = true
          curl_multi_wakeup(multi.handle)
        }
        return false
      }
      if hasEnded { continuation.resume() }
    }
  }

  // MARK: The thread

  private func run() {
    var transfers: [ObjectIdentifier: CurlTransfer] = [:]
    while true {
      let (jobs, isStopping) = state.withLock { state in
        defer { state.jobs = [] }
        return (state.jobs, state.isStopping)
      }
      for job in jobs { take(job, &transfers) }
      if isStopping { break }
      var running: Int32 = 0
      curl_multi_perform(multi.handle, &running)
      finishCompleted(&transfers)
      let wait = endOverdue(&transfers)
      curl_multi_poll(multi.handle, nil, 0, Int32(clamping: wait.curlMilliseconds), nil)
    }
    for transfer in transfers.values { transfer.end(on: multi.handle, .failure(.shutDown)) }
    let waiting = state.withLock { state in
      curl_multi_cleanup(multi.handle)
      state.hasEnded = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  private func take(_ job: Job, _ transfers: inout [ObjectIdentifier: CurlTransfer]) {
    switch job {
    case .start(let transfer):
      do {
        try transfer.begin(on: multi.handle)
        transfers[ObjectIdentifier(transfer)] = transfer
      } catch {
        end(transfer, .failure(error))
      }
    case .cancel(let transfer):
      guard transfers.removeValue(forKey: ObjectIdentifier(transfer)) != nil else { return }
      end(transfer, .failure(.cancelled))
    }
  }

  private func finishCompleted(_ transfers: inout [ObjectIdentifier: CurlTransfer]) {
    var code = CURLE_OK
    while let easy = martlet_curl_next_finished(multi.handle, &code) {
      guard let context = martlet_curl_private(easy) else { continue }
      let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
      transfers[ObjectIdentifier(transfer)] = nil
      end(transfer, code == CURLE_OK ? .success(()) : .failure(transfer.error(for: code)))
    }
  }

  /// Ends what is past its deadline; returns the time until the next one, at most a minute.
  private func endOverdue(_ transfers: inout [ObjectIdentifier: CurlTransfer]) -> Duration {
    let now = ContinuousClock.now
    var next = now + .seconds(60)
    for (id, transfer) in transfers {
      if transfer.deadline > now {
        next = min(next, transfer.deadline)
      } else {
        transfers[id] = nil
        end(transfer, .failure(.timedOut))
      }
    }
    return now.duration(to: next)
  }

  private func end(_ transfer: CurlTransfer, _ result: Result<Void, OutboundError>) {
    // First, so that a caller that hears of the end finds room for the next transfer.
    state.withLock { $0.underWay -= 1 }
    transfer.end(on: multi.handle, result)
  }
}
