import JSON
import MatrixModel
import Testing

@Suite struct MatrixErrorTests {
  private func written(_ error: MatrixError) throws -> JSON {
    var writer = JSONWriter()
    error.write(to: &writer)
    return try JSON.parse(writer.bytes)
  }

  @Test func `an unknown code survives the round trip`() throws {
    let body = try JSON.parse(Array(#"{"errcode":"ORG.EXAMPLE_Ä","error":"Nein \"so\" nicht"}"#.utf8))
    let error = MatrixError(status: 418, body: body)
    #expect(error.code == "ORG.EXAMPLE_Ä" && error.status == 418)
    #expect(try written(error).bytes.elementsEqual(body.bytes))
  }

  @Test func `extra fields survive`() throws {
    let limited = MatrixError(status: 429, body: try written(.limitExceeded(retryAfterMilliseconds: 1_500)))
    #expect(limited.code == .limitExceeded && limited.retryAfterMilliseconds == 1_500 && limited.softLogout == nil)
    let loggedOut = MatrixError(status: 401, body: try written(.unknownToken(softLogout: true)))
    #expect(loggedOut.code == .unknownToken && loggedOut.softLogout == true && loggedOut.retryAfterMilliseconds == nil)
    #expect(try written(.unknownToken())["soft_logout"]?.bool == false)
  }

  @Test(arguments: ["null", "[]", "{}", #"{"errcode":1,"error":[]}"#]) func `an unreadable body is M_UNKNOWN`(
    body: String
  ) throws {
    let error = MatrixError(status: 502, body: try JSON.parse(Array(body.utf8)))
    #expect(error.code == .unknown && error.message == "" && error.status == 502)
    #expect(MatrixError(status: 502, body: nil).code == .unknown)
  }

  /// Client-Server API, "Common error codes", "Rate limiting", "Client authentication".
  @Test func `statuses are the spec's`() {
    #expect(
      [MatrixError.forbidden("").status, MatrixError.notFound("").status, MatrixError.missingToken().status] == [
        403, 404, 401
      ])
    #expect(
      [MatrixError.notJSON().status, MatrixError.badJSON("").status, MatrixError.missingParameter("x").status] == [
        400, 400, 400
      ])
    #expect(
      [MatrixError.tooLarge("").status, MatrixError.unrecognized(status: 405).status, MatrixError.unknown("").status]
        == [413, 405, 500])
    #expect(MatrixError.limitExceeded(retryAfterMilliseconds: 1).status == 429)
  }
}
