public import Errand

/// Notified on the main actor how a started batch ended, before its completion closure: exactly one of the three, once.
/// All are optional. A delegate is held weakly; `activity` says which run it was.
@MainActor public protocol BatchDelegate: AnyObject, Sendable {
    /// The output is what `send` returns: an array of `Response<User>`, a tuple, …; `cached` says how much of it came
    /// from a cache.
    func batchDidSucceed(_ activity: Activity, output: any Sendable, cached: CacheShare)
    /// A ``BatchError`` names the request that failed.
    func batchDidFail(_ activity: Activity, error: any Error)
    /// The whole was cancelled, or a part that was needed.
    func batchDidCancel(_ activity: Activity)
}

extension BatchDelegate {
    /// Does nothing.
    public func batchDidSucceed(_ activity: Activity, output: any Sendable, cached: CacheShare) {}
    /// Does nothing.
    public func batchDidFail(_ activity: Activity, error: any Error) {}
    /// Does nothing.
    public func batchDidCancel(_ activity: Activity) {}
}
