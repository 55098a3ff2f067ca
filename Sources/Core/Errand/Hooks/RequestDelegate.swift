/// Receives the end of a started request on the main actor, before the completion closure. Exactly one method is
/// called, once.
///
/// All methods are optional. The agent holds the delegate weakly. `activity` identifies the call.
@MainActor public protocol RequestDelegate: AnyObject, Sendable {
    /// The response was accepted and decoded.
    func requestDidSucceed(_ activity: Activity, response: Response<any Sendable>)
    /// The request failed, with the error that a completion would receive.
    func requestDidFail(_ activity: Activity, error: any Error)
    /// The request was cancelled.
    func requestDidCancel(_ activity: Activity)
}

extension RequestDelegate {
    /// Ignores the event.
    public func requestDidSucceed(_ activity: Activity, response: Response<any Sendable>) {}
    /// Ignores the event.
    public func requestDidFail(_ activity: Activity, error: any Error) {}
    /// Ignores the event.
    public func requestDidCancel(_ activity: Activity) {}
}

extension Completion {
    /// Holds the delegate weakly.
    static func delegate<Output>(_ delegate: any RequestDelegate) -> Completion where Success == Response<Output> {
        .main(
            success: { [weak delegate] activity, response in
                let erased = Response<any Sendable>(value: response.value, http: response.http)
                delegate?.requestDidSucceed(activity, response: erased)
            },
            failure: { [weak delegate] in delegate?.requestDidFail($0, error: $1) },
            cancellation: { [weak delegate] in delegate?.requestDidCancel($0) })
    }
}
