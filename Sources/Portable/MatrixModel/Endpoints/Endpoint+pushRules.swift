/// Push rules. The names are the operation IDs of the spec's OpenAPI description.
extension Endpoint {
  public static let getPushRules = Endpoint(.get, "/_matrix/client/v3/pushrules/")
  public static let getPushRulesGlobal = Endpoint(.get, "/_matrix/client/v3/pushrules/global/")
  public static let getPushRule = Endpoint(.get, "/_matrix/client/v3/pushrules/global/{kind}/{ruleId}")
  public static let setPushRule = Endpoint(
    .put, "/_matrix/client/v3/pushrules/global/{kind}/{ruleId}", rateLimited: true)
  public static let deletePushRule = Endpoint(.delete, "/_matrix/client/v3/pushrules/global/{kind}/{ruleId}")
  public static let getPushRuleActions = Endpoint(.get, "/_matrix/client/v3/pushrules/global/{kind}/{ruleId}/actions")
  public static let setPushRuleActions = Endpoint(.put, "/_matrix/client/v3/pushrules/global/{kind}/{ruleId}/actions")
  public static let isPushRuleEnabled = Endpoint(.get, "/_matrix/client/v3/pushrules/global/{kind}/{ruleId}/enabled")
  public static let setPushRuleEnabled = Endpoint(.put, "/_matrix/client/v3/pushrules/global/{kind}/{ruleId}/enabled")
}
