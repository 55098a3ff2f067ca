/// Where a response came from, and why.
public struct ResponseSource: Sendable, Hashable, CustomStringConvertible {
    private struct Details: Sendable, Hashable {
        let name: String
        let age: Duration?
        let reason: String?
    }

    // One reference, since a response is copied from filter to filter.
    private let details: [Details]

    /// - Parameters:
    ///   - name: "network", or a name of a filter's own, such as "cache".
    ///   - age: the response's age; nil where it was not stored.
    ///   - reason: why the response came from there, in words for a log.
    public init(_ name: String, age: Duration? = nil, reason: String? = nil) {
        details = [Details(name: name, age: age, reason: reason)]
    }

    /// From the server, by the transport.
    public static let network = ResponseSource("network")

    /// A response that was stored before.
    public static func stored(_ name: String = "cache", age: Duration, reason: String) -> ResponseSource {
        ResponseSource(name, age: age, reason: reason)
    }

    /// The name of the source.
    public var name: String { details[0].name }
    /// The age of the response; nil where it was not stored.
    public var age: Duration? { details[0].age }
    /// Why the response came from there.
    public var reason: String? { details[0].reason }
    /// Whether the response was stored before, for example by a cache, and not made for this request.
    public var isStored: Bool { age != nil }

    /// Name, age and reason, in one line.
    public var description: String {
        if age == nil, reason == nil { return name }
        let seconds = age.map { "\($0.bounded.components.seconds) s old" }
        return [name, seconds, reason].compactMap(\.self).joined(separator: ", ")
    }
}
