import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// Cross-signing keys and signatures.
extension Routes {
  mutating func addCrossSigningRoutes() {
    let (keys, signatures, accounts) = (homeserver.crossSigningKeys, homeserver.signatureUpload, homeserver.accounts)

    on(.uploadCrossSigningKeys, budget: .authentication) { request, session in
      let body = try await request.object()
      let upload = try CrossSigningKeys.Upload(body, of: session.userID)
      if try await !keys.upload(upload, of: session.userID, isProven: false) {
        try await accounts.requirePassword(of: session, for: "keys/device_signing/upload", auth: body.given("auth"))
        _ = try await keys.upload(upload, of: session.userID, isProven: true)
      }
      return .emptyObject
    }

    on(.uploadCrossSigningSignatures) { request, session in
      let failures = try await signatures.upload(request.object(), by: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.key("failures")
          writer.object { writer in
            for (userID, failures) in Dictionary(grouping: failures, by: \.userID) {
              writer.key(userID)
              writer.object { writer in
                for failure in failures {
                  writer.key(failure.keyID)
                  failure.error.write(to: &writer)
                }
              }
            }
          }
        }
      }
    }
  }
}
