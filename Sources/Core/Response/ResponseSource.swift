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
    ///   - name: "network", "cache", or a name of a filter's own.
    ///   - age: how old it is, where that means something.
    ///   - reason: why it was answered so, in words for a log.
    public init(_ name: String, age: Duration? = nil, reason: String? = nil) {
        details = [Details(name: name, age: age, reason: reason)]
    }

    public static let network = ResponseSource("network")
    public static func cache(age: Duration, reason: String) -> ResponseSource {
        ResponseSource("cache", age: age, reason: reason)
    }

    public var name: String { details[0].name }
    public var age: Duration? { details[0].age }
    public var reason: String? { details[0].reason }
    public var isCache: Bool { name == "cache" }

    public var description: String {
        [name, age.map { "\($0.components.seconds) s old" }, reason].compactMap(\.self).joined(separator: ", ")
    }
}
