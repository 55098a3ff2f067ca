public import Errand
import ErrandEssentials

/// A step of a chain that is a list, with a callback that may change the steps not yet reached.
///
/// ```swift
/// let chain = Chain("sign up", steps: [
///     ChainStep(Register(name: "Ada")) { account, steps in
///         if account.value.isNew { steps.append(ChainStep(SendWelcome(account.value.id))) }
///     },
///     ChainStep(after: Account.self) { account in GetProfile(account.id) },
/// ])
/// agent.start(running: chain, delegate: screen)
/// ```
public struct ChainStep: Sendable {
    /// Changes the list after a step, on the main actor; an error that it throws ends the chain.
    public typealias Callback<Output: Sendable> =
        @MainActor @Sendable (_ response: Response<Output>, _ steps: ChainEditor) throws -> Void

    /// The name for errors, logs and ``ChainEditor/remove(_:)``.
    public let label: String
    /// Runs the step with the results of the steps before it.
    let run: @Sendable (_ done: [ChainStepResult], ChainRecord, ChainEditor) async throws -> ChainStepResult

    /// Makes a step of a request; the callback runs when it has succeeded, before the next step begins.
    ///
    /// - Parameters:
    ///   - request: the request of the step.
    ///   - label: the request's label or its type by default.
    ///   - callback: called on the main actor; none by default.
    public init<R: Request>(_ request: R, label: String? = nil, then callback: Callback<R.Output>? = nil) {
        let label = label ?? request.label ?? "\(R.self)"
        self.label = label
        run = { done, record, editor in
            try await Self.send(request, done.count, label, record, editor, then: callback)
        }
    }

    /// Makes a step of a request that is made from the value of the step before it.
    ///
    /// Throws ``ChainInputError`` if that value is of another type, as after an edit of the list, or if there is none.
    /// The closure runs off the caller's actor; an error that it throws ends the chain.
    public init<Input: Sendable, R: Request>(
        after type: Input.Type, label: String? = nil, make: @escaping @Sendable (Input) throws -> R,
        then callback: Callback<R.Output>? = nil
    ) {
        let label = label ?? "\(R.self)"
        self.label = label
        run = { done, record, editor in
            guard let input = done.last?.value as? Input else {
                throw ChainInputError(label: label, expected: type, got: done.last.map { Swift.type(of: $0.value) })
            }
            return try await Self.send(try make(input), done.count, label, record, editor, then: callback)
        }
    }

    // In line, so that a step has one async frame.
    @inline(__always) private static func send<R: Request>(
        _ request: R, _ index: Int, _ label: String, _ record: ChainRecord, _ editor: ChainEditor,
        then callback: Callback<R.Output>?
    ) async throws -> ChainStepResult {
        record.note(index, label)
        let response: Response<R.Output>
        do { response = try await record.agent.send(request, options: record.options(index, label)) } catch {
            record.fail((index, label, request), error)
            throw error
        }
        let result = ChainStepResult(index: index, label: label, value: response.value, http: response.http)
        if let notifier = record.notifier { await notifier.notify(editor.activity, result) }
        if let callback {
            editor.open()
            defer { editor.close() }
            try await callback(response, editor)
        }
        return result
    }
}

/// Thrown when the step before one made with ``ChainStep/init(after:label:make:then:)`` did not return a value of the
/// type that it needs.
public struct ChainInputError: DescribedError, Sendable {
    /// The step that cannot begin.
    public let label: String
    /// The type that the step needs.
    public let expected: Any.Type
    /// The type of the value before it; nil if there was no step before it.
    public let got: (Any.Type)?

    /// One sentence.
    public var description: String {
        "\(label) needs \(expected) of the step before it, got \(got.map { "\($0)" } ?? "nothing")"
    }

    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}
