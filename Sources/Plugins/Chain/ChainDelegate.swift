public import Errand

/// Receives each successful step and the end of a started chain on the main actor.
///
/// The chain calls exactly one of the last three methods, once, before the completion closure. All methods are
/// optional. The chain holds its delegate weakly. `activity` identifies the run.
///
/// The chain waits for the delegate after each step, so don't use a delegate in a program that blocks its main thread.
@MainActor public protocol ChainDelegate: AnyObject, Sendable {
    /// A step succeeded. If the steps run one after another, the next step hasn't begun.
    func chain(_ activity: Activity, didFinish step: ChainStepResult)
    /// The chain succeeded. `output` is the chain's output.
    func chainDidSucceed(_ activity: Activity, output: any Sendable)
    /// The chain failed. A ``ChainError`` names the step that failed.
    func chainDidFail(_ activity: Activity, error: any Error)
    /// The chain was cancelled, possibly by a step's callback.
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
    /// The step's name: the call's label, otherwise the request's label, otherwise the request's type.
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
