import ServerCore

/// What waits to be told to one application service, and the signal that something does.
final class AppServiceInbox: Sendable {
  let service: AppService
  let ephemeral = AppServiceEphemeral()
  let signal = WorkSignal()

  init(_ service: AppService) { self.service = service }
}
