public import Errand

/// Told on the main actor of every step of a started chain that is done, and then how the chain ended, before its
/// completion closure: exactly one of the last three, once.
///
/// All are optional. A delegate is held weakly; `activity` says which sending it was. The chain waits for it after each
/// step, so in a program whose main thread is blocked, give it none.
@MainActor public protocol ChainDelegate: AnyObject, Sendable {
    /// A step succeeded; the next one has not begun, if the chain runs one after the other.
    func chain(_ activity: Activity, didFinish step: ChainStepResult)
    /// The answer is what `send` returns.
    func chainDidSucceed(_ activity: Activity, answer: any Sendable)
    /// A ``ChainError`` names the step that failed.
    func chainDidFail(_ activity: Activity, error: any Error)
    /// The chain was cancelled, also by a callback of its own.
    func chainDidCancel(_ activity: Activity)
}

extension ChainDelegate {
    /// Does nothing.
    public func chain(_ activity: Activity, didFinish step: ChainStepResult) {}
    /// Does nothing.
    public func chainDidSucceed(_ activity: Activity, answer: any Sendable) {}
    /// Does nothing.
    public func chainDidFail(_ activity: Activity, error: any Error) {}
    /// Does nothing.
    public func chainDidCancel(_ activity: Activity) {}
}

/// What came of one step.
public struct ChainStepResult: Sendable {
    /// Its place in the chain, from 0, in the order in which the steps began.
    public let index: Int
    /// The label of the step.
    public let label: String
    /// The decoded value of a request, or the answer of a composite.
    public let value: any Sendable
    /// The response of a request; nil for a composite.
    public let http: HTTPResponse?

    /// The place counted from 1.
    @available(*, deprecated, message: "steps are counted from 0, as parts of a batch are: index")
    public var number: Int { index + 1 }
}

/// A delegate, held weakly, as the steps and the end of a chain see it.
final class ChainObserver: Sendable {
    private weak let delegate: (any ChainDelegate)?

    init(_ delegate: any ChainDelegate) { self.delegate = delegate }

    func finished(
        _ activity: Activity, _ step: ChainRecord.Step, _ value: any Sendable, _ http: HTTPResponse?
    ) async {
        guard let delegate else { return }
        let result = ChainStepResult(index: step.index, label: step.label, value: value, http: http)
        await MainActor.run { delegate.chain(activity, didFinish: result) }
    }

    func completion<Success>() -> Completion<Success> {
        Completion { [weak delegate] activity, result in
            await MainActor.run {
                switch result {
                case .success(let answer): delegate?.chainDidSucceed(activity, answer: answer)
                case .failure(let error) where error.isCancellation: delegate?.chainDidCancel(activity)
                case .failure(let error): delegate?.chainDidFail(activity, error: error)
                }
            }
        }
    }
}
