public import Errand

/// A delegate that is told about each successful step, and about the end of the chain. It's called on the main actor.
///
/// At the end, the chain calls exactly one of the last three methods, once, before the completion closure. All methods
/// are optional. The chain holds its delegate weakly. The `activity` parameter identifies the run.
///
/// The chain waits for the delegate after each step. If your program blocks its main thread, don't use a delegate,
/// because the chain would never continue.
@MainActor public protocol ChainDelegate: AnyObject, Sendable {
    /// A step succeeded. If the steps run one after another, the next step begins after this method returns.
    func chain(_ activity: Activity, didFinish step: ChainStepResult)
    /// The chain succeeded. `output` is the chain's output.
    func chainDidSucceed(_ activity: Activity, output: any Sendable)
    /// The chain failed. If the error is a ``ChainError``, it names the step that failed.
    func chainDidFail(_ activity: Activity, error: any Error)
    /// The chain was cancelled, for example by a step's callback.
    func chainDidCancel(_ activity: Activity)
}

extension ChainDelegate {
    /// Does nothing.
    public func chain(_ activity: Activity, didFinish step: ChainStepResult) {}
    /// Does nothing.
    public func chainDidSucceed(_ activity: Activity, output: any Sendable) {}
    /// Does nothing.
    public func chainDidFail(_ activity: Activity, error: any Error) {}
    /// Does nothing.
    public func chainDidCancel(_ activity: Activity) {}
}

/// The result of a successful step.
public struct ChainStepResult: Sendable {
    /// The step's index, from 0, in the order in which steps began.
    public let index: Int
    /// The step's name. This is the label in the call's options, the request's label, or the request's type, whichever
    /// is set first in this order.
    public let label: String
    /// The output of the step's request or composite.
    public let value: any Sendable
    /// The response, or `nil` if the step is a composite.
    public let http: HTTPResponse?
}

extension ChainStepResult {
    init(_ step: CompositeMember, _ output: CompositeMember.Output) {
        self.init(index: step.index, label: step.label, value: output.value, http: output.http)
    }
}

final class ChainNotifier: Sendable {
    private weak let delegate: (any ChainDelegate)?

    init(_ delegate: any ChainDelegate) { self.delegate = delegate }

    func notify(_ activity: Activity, _ result: ChainStepResult) async {
        guard let delegate else { return }
        await MainActor.run { delegate.chain(activity, didFinish: result) }
    }
}
