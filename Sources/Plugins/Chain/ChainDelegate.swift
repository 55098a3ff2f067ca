public import Errand

/// Learns on the main actor about each successful step of a started chain, and how the chain ended.
///
/// Exactly one of the last three methods is called, once, before the completion closure. All methods are optional. A
/// delegate is held weakly; `activity` identifies the run. The chain waits for the delegate after each step, so don't
/// use a delegate in a program that blocks its main thread.
@MainActor public protocol ChainDelegate: AnyObject, Sendable {
    /// A step succeeded. If the chain runs its steps one after another, the next step hasn't begun.
    func chain(_ activity: Activity, didFinish step: ChainStepResult)
    /// The chain succeeded. `output` is what `run` returns.
    func chainDidSucceed(_ activity: Activity, output: any Sendable)
    /// The chain failed. A ``ChainError`` names the step that failed.
    func chainDidFail(_ activity: Activity, error: any Error)
    /// The chain was cancelled, possibly by its own callback.
    func chainDidCancel(_ activity: Activity)
}

extension ChainDelegate {
    /// The default implementation does nothing.
    public func chain(_ activity: Activity, didFinish step: ChainStepResult) {}
    /// The default implementation does nothing.
    public func chainDidSucceed(_ activity: Activity, output: any Sendable) {}
    /// The default implementation does nothing.
    public func chainDidFail(_ activity: Activity, error: any Error) {}
    /// The default implementation does nothing.
    public func chainDidCancel(_ activity: Activity) {}
}

/// The result of a step that succeeded.
public struct ChainStepResult: Sendable {
    /// The step's index in the chain, from 0, in the order in which steps began.
    public let index: Int
    /// The step's name: from the call, otherwise from the request, otherwise the request's type.
    public let label: String
    /// The decoded output of a request, or the output of a composite.
    public let value: any Sendable
    /// The response to the step's request, or `nil` for a composite.
    public let http: HTTPResponse?
}

extension ChainStepResult {
    init(_ step: CompositeMember, _ output: CompositeMember.Output) {
        self.init(index: step.index, label: step.label, value: output.value, http: output.http)
    }
}

/// Notifies a delegate of a chain's steps. Holds the delegate weakly.
final class ChainNotifier: Sendable {
    private weak let delegate: (any ChainDelegate)?

    init(_ delegate: any ChainDelegate) { self.delegate = delegate }

    func notify(_ activity: Activity, _ result: ChainStepResult) async {
        guard let delegate else { return }
        await MainActor.run { delegate.chain(activity, didFinish: result) }
    }
}
