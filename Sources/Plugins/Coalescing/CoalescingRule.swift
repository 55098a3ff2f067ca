public import Errand
import ErrandSupport

/// The rule that decides which requests are equal.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: url, transport: .system, filters: [.coalescing(.standard.ignoring("X-Screen"))])
/// let fresh = try await agent.send(GetUser(id: 7), options: .coalescing(.off)).value
/// ```
///
/// The method, the URL, the body with its type, the `timeout`, credentials, cookies and every other sensitive field,
/// and tags that affect the response (`TagKey.affectsResponse`) are always compared. Where filters of the agent follow,
/// requests of different types, or that accept other statuses or content types or have other checks, are not equal,
/// since those filters may treat them differently.
public struct CoalescingRule: Sendable, Hashable {
    private struct Fields: Hashable {
        var isOff = false
        var ignored: Set<HTTPHeaderName> = ["traceparent", "tracestate", "X-Request-ID", "X-Correlation-ID"]
        var compared: Set<HTTPHeaderName>?
        var additions: [String] = []
    }

    // An array of one: a single reference, since each request has a copy.
    private var fields = [Fields()]

    private init() {}

    /// Compares all header fields except those that number requests: `traceparent`, `tracestate`, `X-Request-ID` and
    /// `X-Correlation-ID`. The default.
    public static let standard = CoalescingRule()

    /// Shares nothing: the request is sent by itself, and no other joins it.
    public static let off: CoalescingRule = {
        var rule = CoalescingRule()
        rule.fields[0].isOff = true
        return rule
    }()

    /// Ignores these header fields as well. The request that is sent has its own; the ones that join send none.
    public func ignoring(_ headers: HTTPHeaderName...) -> CoalescingRule {
        var rule = self
        rule.fields[0].ignored.formUnion(headers)
        rule.fields[0].compared?.subtract(headers)
        return rule
    }

    /// Compares only these header fields, and sensitive ones.
    public func comparingOnly(_ headers: HTTPHeaderName...) -> CoalescingRule {
        var rule = self
        rule.fields[0].compared = Set(headers)
        rule.fields[0].ignored.subtract(headers)
        return rule
    }

    /// Compares a text as well, for a difference that is neither in the URL nor in a header, such as the user of a
    /// client certificate.
    public func adding(_ text: String) -> CoalescingRule {
        var rule = self
        rule.fields[0].additions.append(text)
        return rule
    }

    var shares: Bool { !fields[0].isOff }

    /// Whether two requests have the same header fields, in any order of their names.
    func haveSameFields(_ a: HTTPHeaders, _ b: HTTPHeaders) -> Bool {
        if a == b { return true }
        let (own, others) = (a.filter(isCompared), b.filter(isCompared))
        return own.count == others.count
            && own.allSatisfy { field in
                own.lazy.filter { $0.name == field.name }
                    .elementsEqual(others.lazy.filter { $0.name == field.name }, by: Self.haveSameBytes)
            }
    }

    /// Whether two fields are sent with the same value: Unicode's canonical equivalence does not apply.
    private static func haveSameBytes(_ a: HTTPHeaders.Field, _ b: HTTPHeaders.Field) -> Bool {
        a.isLatin1 == b.isLatin1 && a.value.hasSameBytes(as: b.value)
    }

    private func isCompared(_ field: HTTPHeaders.Field) -> Bool {
        if field.isSensitive { return true }
        return fields[0].compared.map { $0.contains(field.name) } ?? !fields[0].ignored.contains(field.name)
    }
}

/// The tag with the rule of a request or a call; nil, the default, means the rule of the filter.
///
/// ```swift
/// struct GetTicket: Request {
///     var path: String { "tickets/next" }
///     var tags: Tags { Tags().with(CoalescingRule.self, .off) }
/// }
/// ```
extension CoalescingRule: TagKey {
    /// Nil.
    public static var defaultValue: CoalescingRule? { nil }
}

extension CallOptions {
    /// `try await agent.send(GetTicket(), options: .coalescing(.off))`
    public static func coalescing(_ rule: CoalescingRule) -> CallOptions { CallOptions().coalescing(rule) }

    /// The same options with a rule.
    public func coalescing(_ rule: CoalescingRule) -> CallOptions {
        var options = self
        options.tags[CoalescingRule.self] = rule
        return options
    }
}
