public import Errand
import ErrandSupport

/// Decides which requests are equal for ``CoalescingFilter``.
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: url, transport: .system, filters: [.coalescing(.standard.ignoring("X-Screen"))])
/// let fresh = try await agent.send(GetUser(id: 7), options: .coalescing(.off)).value
/// ```
///
/// A rule always compares the method, URL, body and its type, `timeout`, credentials, cookies, other sensitive fields,
/// and tags that affect the response (`TagKey.affectsResponse`). If other filters follow, it also compares the
/// request's type, acceptable statuses, acceptable content types and checks, because those filters may depend on them.
public struct CoalescingPolicy: Sendable, Hashable {
    private struct Fields: Hashable {
        var isOff = false
        var ignored: Set<HTTPHeaderName> = ["traceparent", "tracestate", "X-Request-ID", "X-Correlation-ID"]
        var compared: Set<HTTPHeaderName>?
        var additions: [String] = []
    }

    // An array with one element, so the copies in requests share its storage.
    private var fields = [Fields()]

    private init() {}

    /// The default rule. It compares all header fields except `traceparent`, `tracestate`, `X-Request-ID` and
    /// `X-Correlation-ID`, which differ in each request.
    public static let standard = CoalescingPolicy()

    /// A rule by which a request is never shared.
    public static let off: CoalescingPolicy = {
        var rule = CoalescingPolicy()
        rule.fields[0].isOff = true
        return rule
    }()

    /// Returns a rule that also ignores these header fields. The request that is sent has the values of the first
    /// request.
    public func ignoring(_ headers: HTTPHeaderName...) -> CoalescingPolicy {
        var rule = self
        rule.fields[0].ignored.formUnion(headers)
        rule.fields[0].compared?.subtract(headers)
        return rule
    }

    /// Returns a rule that compares only these header fields and sensitive header fields.
    public func comparingOnly(_ headers: HTTPHeaderName...) -> CoalescingPolicy {
        var rule = self
        rule.fields[0].compared = Set(headers)
        rule.fields[0].ignored.subtract(headers)
        return rule
    }

    /// Returns a rule that also compares a text of your choice. Use it if requests differ in something outside the URL
    /// and header fields, such as the user of a client certificate.
    public func adding(_ text: String) -> CoalescingPolicy {
        var rule = self
        rule.fields[0].additions.append(text)
        return rule
    }

    var shares: Bool { !fields[0].isOff }

    /// The order of fields with different names doesn't matter.
    func haveSameFields(_ a: HTTPHeaders, _ b: HTTPHeaders) -> Bool {
        if a == b { return true }
        let (own, others) = (a.filter(isCompared), b.filter(isCompared))
        return own.count == others.count
            && own.allSatisfy { field in
                own.lazy.filter { $0.name == field.name }
                    .elementsEqual(others.lazy.filter { $0.name == field.name }, by: Self.haveSameBytes)
            }
    }

    /// Canonically equivalent strings have different bytes on the wire.
    private static func haveSameBytes(_ a: HTTPHeaders.Field, _ b: HTTPHeaders.Field) -> Bool {
        a.isLatin1 == b.isLatin1 && a.value.hasSameBytes(as: b.value)
    }

    private func isCompared(_ field: HTTPHeaders.Field) -> Bool {
        if field.isSensitive { return true }
        return fields[0].compared.map { $0.contains(field.name) } ?? !fields[0].ignored.contains(field.name)
    }
}

/// Sets the rule of a request or call. Defaults to `nil`, which uses the filter's rule.
///
/// ```swift
/// struct GetTicket: Request {
///     var path: String { "tickets/next" }
///     var tags: Tags { Tags().with(CoalescingPolicy.self, .off) }
/// }
/// ```
extension CoalescingPolicy: TagKey {
    /// Returns `nil`.
    public static var defaultValue: CoalescingPolicy? { nil }
}

extension CallOptions {
    /// Creates options with a rule: `try await agent.send(GetTicket(), options: .coalescing(.off))`.
    public static func coalescing(_ rule: CoalescingPolicy) -> CallOptions { CallOptions().coalescing(rule) }

    /// Returns a copy of these options with a rule, which replaces the rules of the request and the filter.
    public func coalescing(_ rule: CoalescingPolicy) -> CallOptions {
        var options = self
        options.tags[CoalescingPolicy.self] = rule
        return options
    }
}
