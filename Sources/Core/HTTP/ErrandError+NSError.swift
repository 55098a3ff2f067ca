public import ErrandEssentials

extension ErrandError: LocalizedError {
    /// The same sentence as `description`.
    public var errorDescription: String? { description }

    /// The domain of an `NSError` made of it.
    public static var errorDomain: String { "Errand.ErrandError" }

    /// The number of the code, which never changes.
    public var errorCode: Int { code.number }

    /// The sentence, and the failure below this one.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = ["NSLocalizedDescription": description]
        if let underlying { info["NSUnderlyingError"] = underlying }
        return info
    }
}

#if canImport(Darwin)
extension ErrandError: CustomNSError {}
#endif
