#if !canImport(Darwin)
  import CCurl
  public import ClientCore
  import Synchronization

  #if canImport(Glibc)
    import Glibc
  #else
    import Musl
  #endif

  /// A transport with libcurl's multi interface on its own thread. All transfers of a client share connections.
  public final class CurlTransport: Transport {
    private enum Job: Sendable {
      case start(Transfer)
      case cancel(UInt64)
      case stop
    }

    /// `curl_multi_wakeup` may be called from any thread; everything else happens on the transport's thread.
    private struct Multi: @unchecked Sendable { let handle: UnsafeMutableRawPointer }

    private struct Inbox: Sendable {
      var jobs: [Job] = []
      var lastID: UInt64 = 0
    }

    /// What the thread holds; it keeps the inbox alive without keeping the transport.
    private final class Shared: Sendable {
      let inbox = Mutex(Inbox())
      let multi: Multi

      init(multi: Multi) { self.multi = multi }

      func post(_ job: Job) {
        inbox.withLock { $0.jobs.append(job) }
        curl_multi_wakeup(multi.handle)
      }
    }

    private let shared: Shared
    private let settings: TransportSettings

    public init(_ settings: TransportSettings = TransportSettings()) {
      self.settings = settings
      curl_global_init(Int(CURL_GLOBAL_DEFAULT))
      guard let handle = curl_multi_init() else { preconditionFailure("libcurl has no memory to start") }
      shared = Shared(multi: Multi(handle: handle))
      var thread = pthread_t()
      let context = Unmanaged.passRetained(shared).toOpaque()
      let error = pthread_create(
        &thread, nil,
        { context in
          guard let context else { return nil }
          CurlTransport.run(Unmanaged<Shared>.fromOpaque(context).takeRetainedValue())
          return nil
        }, context)
      precondition(error == 0, "no thread for the transport")
      pthread_detach(thread)
    }

    deinit { shared.post(.stop) }

    public func carry(_ exchange: Exchange) async -> Response {
      let id = shared.inbox.withLock { inbox in
        inbox.lastID += 1
        return inbox.lastID
      }
      return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          shared.post(.start(Transfer(id: id, exchange, settings, continuation)))
          if Task.isCancelled { shared.post(.cancel(id)) }
        }
      } onCancel: {
        shared.post(.cancel(id))
      }
    }

    // MARK: The thread

    private static func run(_ shared: Shared) {
      let multi = shared.multi.handle
      var transfers: [UInt64: Transfer] = [:]
      while true {
        for job in shared.inbox.withLock({ inbox in
          defer { inbox.jobs = [] }
          return inbox.jobs
        }) {
          switch job {
          case .start(let transfer):
            if let failure = transfer.begin(on: multi) {
              transfer.finish(failure)
            } else {
              transfers[transfer.id] = transfer
            }
          case .cancel(let id):
            guard let transfer = transfers.removeValue(forKey: id) else { continue }
            transfer.end(on: multi)
            transfer.finish(.networkError)
          case .stop:
            for transfer in transfers.values {
              transfer.end(on: multi)
              transfer.finish(.networkError)
            }
            curl_multi_cleanup(multi)
            return
          }
        }
        advance(multi, &transfers)
      }
    }

    private static func advance(_ multi: UnsafeMutableRawPointer, _ transfers: inout [UInt64: Transfer]) {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      var result = CURLE_OK
      while let easy = martlet_curl_next_finished(multi, &result) {
        guard let transfer = transfers.values.first(where: { $0.easy == easy }) else { continue }
        transfers[transfer.id] = nil
        let response = transfer.response(result)
        transfer.end(on: multi)
        transfer.finish(response)
      }
      curl_multi_poll(multi, nil, 0, 60_000, nil)
    }
  }
#endif
