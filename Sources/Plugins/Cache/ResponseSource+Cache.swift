public import Errand

extension ResponseSource {
    /// A cached response, with its age and the reason why the cache served it.
    public static func cache(age: Duration, reason: String) -> ResponseSource { .stored(age: age, reason: reason) }

    /// Whether the response came from a cache.
    public var isCache: Bool { isStored && name == "cache" }
}
