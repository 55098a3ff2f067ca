/// Where a response came from, and why.
public struct ResponseSource: Sendable, Hashable, CustomStringConvertible {
    private let details: Details

    private final class Details: Sendable {
        let name: String
        let age: Duration?
        let reason: String?

        init(_ name: String, _ age: Duration?, _ reason: String?) {
            self.name = name
            self.age = age
            self.reason = reason
        }
    }

    /// - Parameters:
    ///   - name: "network", "cache", or a name of a filter's own.
    ///   - age: how old it is, where that means something.
    ///   - reason: why it was answered so, in words for a log.
    public init(_ name: String, age: Duration? = nil, reason: String? = nil) {
        details = Details(name, age, reason)
    }

    public static let network = ResponseSource("network")
    public static func cache(age: Duration, reason: String) -> ResponseSource {
        ResponseSource("cache", age: age, reason: reason)
    }

    public var name: String { details.name }
    public var age: Duration? { details.age }
    public var reason: String? { details.reason }
    public var isCache: Bool { name == "cache" }

    public static func == (a: ResponseSource, b: ResponseSource) -> Bool {
        a.name == b.name && a.age == b.age && a.reason == b.reason
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(age)
        hasher.combine(reason)
    }

    public var description: String {
        [name, age.map { "\($0.components.seconds) s old" }, reason].compactMap(\.self).joined(separator: ", ")
    }
}
