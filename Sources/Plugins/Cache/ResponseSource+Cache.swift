public import Errand

extension ResponseSource {
    /// From a cache.
    public static func cache(age: Duration, reason: String) -> ResponseSource { .stored(age: age, reason: reason) }

    /// Whether the response came from a cache.
    public var isCache: Bool { isStored && name == "cache" }
}
