public import Errand

/// Receives, on the main actor, every step of a started chain that has succeeded, and then how the chain ended, before
/// its completion closure: exactly one of the last three methods is called, once.
///
/// All are optional. A delegate is held weakly; `activity` identifies the run. The chain waits for the delegate after
/// each step, so use none in a program whose main thread is blocked.
@MainActor public protocol ChainDelegate: AnyObject, Sendable {
    /// A step succeeded; if the chain runs one step after the other, the next one has not begun.
    func chain(_ activity: Activity, didFinish step: ChainStepResult)
    /// The chain succeeded. The output is that of `send`.
    func chainDidSucceed(_ activity: Activity, output: any Sendable)
    /// The chain failed. A ``ChainError`` names the step that failed.
    func chainDidFail(_ activity: Activity, error: any Error)
    /// The chain was cancelled, also by a callback of its own.
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

/// The result of one step that has succeeded.
public struct ChainStepResult: Sendable {
    /// The index of the step in the chain, from 0, in the order in which the steps began.
    public let index: Int
    /// The label of the step.
    public let label: String
    /// The decoded value of a request, or the output of a composite.
    public let value: any Sendable
    /// The response of a request; nil for a composite.
    public let http: HTTPResponse?
}

extension ChainStepResult {
    init(_ step: CompositeMember, _ output: CompositeMember.Output) {
        self.init(index: step.index, label: step.label, value: output.value, http: output.http)
    }
}

/// Notifies a delegate, held weakly, of the steps of a chain.
final class ChainNotifier: Sendable {
    private weak let delegate: (any ChainDelegate)?

    init(_ delegate: any ChainDelegate) { self.delegate = delegate }

    func notify(_ activity: Activity, _ result: ChainStepResult) async {
        guard let delegate else { return }
        await MainActor.run { delegate.chain(activity, didFinish: result) }
    }
}
