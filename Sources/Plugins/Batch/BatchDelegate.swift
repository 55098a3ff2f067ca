public import Errand

/// Receives the end of a started batch on the main actor, before the completion closure runs.
///
/// The batch calls exactly one of the three methods, once. All are optional. The batch holds its delegate weakly.
/// `activity` identifies the run.
@MainActor public protocol BatchDelegate: AnyObject, Sendable {
    /// The batch succeeded. `output` is the batch's output, for example an array of `Response<User>` or a tuple.
    /// `cached` tells how many responses came from a cache.
    func batchDidSucceed(_ activity: Activity, output: any Sendable, cached: CacheShare)
    /// The batch failed. A ``BatchError`` names the request that failed.
    func batchDidFail(_ activity: Activity, error: any Error)
    /// The batch was cancelled, or a part was cancelled that the batch needs.
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
