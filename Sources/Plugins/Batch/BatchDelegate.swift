public import Errand

/// Receives, on the main actor, how a started batch ended, before its completion closure: exactly one of the three
/// methods is called, once. All are optional. A delegate is held weakly; `activity` identifies the run.
@MainActor public protocol BatchDelegate: AnyObject, Sendable {
    /// The batch succeeded. The output is that of `send`: an array of `Response<User>`, a tuple, …; `cached` says how
    /// much of it came from a cache.
    func batchDidSucceed(_ activity: Activity, output: any Sendable, cached: CacheShare)
    /// The batch failed. A ``BatchError`` names the request that failed.
    func batchDidFail(_ activity: Activity, error: any Error)
    /// The batch was cancelled, or a part that was needed.
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
