/// E-mail addresses of accounts and single sign-on. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let post3PIDs = Endpoint(.post, "/_matrix/client/v3/account/3pid")
  public static let add3PID = Endpoint(.post, "/_matrix/client/v3/account/3pid/add", rateLimited: true)
  public static let bind3PID = Endpoint(.post, "/_matrix/client/v3/account/3pid/bind", rateLimited: true)
  public static let unbind3pidFromAccount = Endpoint(.post, "/_matrix/client/v3/account/3pid/unbind")
  public static let delete3pidFromAccount = Endpoint(.post, "/_matrix/client/v3/account/3pid/delete")
  public static let requestTokenTo3PIDEmail = Endpoint(
    .post, "/_matrix/client/v3/account/3pid/email/requestToken", .anyone)
  public static let requestTokenTo3PIDMSISDN = Endpoint(
    .post, "/_matrix/client/v3/account/3pid/msisdn/requestToken", .anyone)
  public static let requestTokenToRegisterEmail = Endpoint(
    .post, "/_matrix/client/v3/register/email/requestToken", .anyone)
  public static let requestTokenToRegisterMSISDN = Endpoint(
    .post, "/_matrix/client/v3/register/msisdn/requestToken", .anyone)
  public static let requestTokenToResetPasswordEmail = Endpoint(
    .post, "/_matrix/client/v3/account/password/email/requestToken", .anyone)
  public static let requestTokenToResetPasswordMSISDN = Endpoint(
    .post, "/_matrix/client/v3/account/password/msisdn/requestToken", .anyone)
  public static let redirectToSSO = Endpoint(.get, "/_matrix/client/v3/login/sso/redirect", .anyone)
  public static let redirectToIdP = Endpoint(.get, "/_matrix/client/v3/login/sso/redirect/{idpId}", .anyone)
}
