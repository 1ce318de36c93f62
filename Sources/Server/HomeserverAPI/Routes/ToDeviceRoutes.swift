import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// Messages to devices.
extension Routes {
  mutating func addToDeviceRoutes() {
    let messages = homeserver.toDeviceMessages

    on(.sendToDevice, bodyLimit: 8 << 20) { request, session in
      let type: EventType = try request.path("eventType")
      let transactionID: TransactionID = try request.path("txnId")
      let body = try await request.object()
      try await messages.send(type, transactionID, from: session, messages: body.requiredObject("messages"))
      return .emptyObject
    }
  }
}
