public import Errand

/// A delegate that is told how a batch ended. It's called on the main actor, before the completion closure runs.
///
/// The batch calls exactly one of the three methods, once. All methods are optional. The batch holds its delegate
/// weakly. The `activity` parameter identifies the run.
@MainActor public protocol BatchDelegate: AnyObject, Sendable {
    /// The batch succeeded. `output` is the batch's output, for example an array of `Response<User>` or a tuple.
    /// `cached` tells whether responses came from a cache.
    func batchDidSucceed(_ activity: Activity, output: any Sendable, cached: CacheShare)
    /// The batch failed. If the error is a ``BatchError``, it names the request that failed.
    func batchDidFail(_ activity: Activity, error: any Error)
    /// The batch was cancelled. Cancelling a part also cancels the batch, if the batch needs this part.
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
