/// Where a response came from.
public struct ResponseSource: Sendable, Hashable, CustomStringConvertible {
    /// "network", "cache", or a name of a filter's own.
    public var name: String
    /// How old it is, where that means something.
    public var age: Duration?
    /// Why it was answered so, in words for a log.
    public var reason: String?

    public init(_ name: String, age: Duration? = nil, reason: String? = nil) {
        self.name = name
        self.age = age
        self.reason = reason
    }

    public static let network = ResponseSource("network")
    public static func cache(age: Duration, reason: String) -> ResponseSource {
        ResponseSource("cache", age: age, reason: reason)
    }

    public var isCache: Bool { name == "cache" }

    public var description: String {
        ([name, age.map { "\($0.components.seconds) s old" }, reason] as [String?]).compactMap(\.self).joined(
            separator: ", ")
    }
}
