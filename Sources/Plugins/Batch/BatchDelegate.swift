public import Errand

/// Learns on the main actor how a started batch ended, before the completion closure runs.
///
/// Exactly one of the three methods is called, once. All are optional. A delegate is held weakly; `activity` identifies
/// the run.
@MainActor public protocol BatchDelegate: AnyObject, Sendable {
    /// The batch succeeded. `output` is what `run` returns, for example an array of `Response<User>` or a tuple.
    /// `cached` is the share of responses that came from a cache.
    func batchDidSucceed(_ activity: Activity, output: any Sendable, cached: CacheShare)
    /// The batch failed. A ``BatchError`` names the request that failed.
    func batchDidFail(_ activity: Activity, error: any Error)
    /// The batch was cancelled, or a part was cancelled without which the batch can't succeed.
    func batchDidCancel(_ activity: Activity)
}

extension BatchDelegate {
    /// The default implementation does nothing.
    public func batchDidSucceed(_ activity: Activity, output: any Sendable, cached: CacheShare) {}
    /// The default implementation does nothing.
    public func batchDidFail(_ activity: Activity, error: any Error) {}
    /// The default implementation does nothing.
    public func batchDidCancel(_ activity: Activity) {}
}
